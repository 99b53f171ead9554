/** Tests that only a signed-in browser reaches the runs, and no page of another server on this machine. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "../support/browser.ts";
import { openPage } from "./browse.ts";
import { type MadeRun, makeRun, type Served, serve } from "./place.ts";

const LIMIT = { timeout: 60_000 };

describe("the page of skein serve", () => {
  let browser: Browser;
  let run: MadeRun;
  let served: Served;
  before(async () => {
    browser = await launchBrowser();
    run = await makeRun();
    served = await serve(run.project);
  });
  after(async () => {
    await served[Symbol.asyncDispose]();
    await run[Symbol.asyncDispose]();
    await browser.close();
  });
  const isIn = (page: Page) => page.getByRole("link", { name: /1118-made/ }).waitFor();
  const isOut = (page: Page) =>
    page.getByRole("main").getByRole("alert").getByText("this browser is not let in").waitFor();

  it("signs a browser in once, takes the link out of its address, and knows it again", LIMIT, async () => {
    const link = served.address;
    const context = await browser.newContext();
    const page = await openPage(context, link);
    await isIn(page);
    assert.equal(page.url(), `${served.origin}/#/`);
    const visited = (await page.evaluate("history.length")) as number;
    for (let back = 0; back < visited - 1; back += 1) {
      await page.goBack();
      assert.ok(!page.url().includes("sign-in"), page.url());
    }
    await page.goto(`${served.origin}/`);
    await page.reload();
    await isIn(page);
    const second = await context.newPage();
    await second.goto(`${served.origin}/#/1118-made/log`);
    await second.getByText("event 1 of 1").waitFor();
    assert.deepEqual(await context.cookies(), []);

    const other = await openPage(browser, link, { isRefused: true }); // Another browser has used the link.
    await isOut(other);
    await other.getByRole("heading", { name: "Not signed in" }).waitFor();
    await other.goto(served.address); // Only the part behind # changes, so the page is not loaded again.
    await isIn(other);
    const unused = served.address;
    await page.goto(unused); // This browser is signed in, so the link stays unused for another one.
    await isIn(page);
    assert.equal(served.address, unused);
    await Promise.all([context.close(), other.context().close()]);
  });

  it("does nothing for what a cookie says", LIMIT, async () => {
    const context = await browser.newContext();
    await context.addCookies([{ name: "skein_device", value: served.token, url: served.origin }]);
    const page = await context.newPage();
    await page.goto(served.origin);
    await isOut(page);
    await context.close();
  });

  for (const host of ["127.0.0.1", "localhost"])
    it(`is neither read nor steered by a page of another port of ${host}`, LIMIT, async () => {
      const heard: IncomingHttpHeaders[] = [];
      const evil = createServer((request, response) => {
        heard.push(request.headers);
        response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><body>other");
      });
      await new Promise<void>((resolve) => evil.listen(0, "127.0.0.1", resolve));
      try {
        const context = await browser.newContext();
        const own = await openPage(context, served.address);
        await isIn(own);
        const page = await context.newPage(); // The same browser, with its storage and cookies.
        await page.goto(`http://${host}:${(evil.address() as AddressInfo).port}/`);
        const opening = page.waitForEvent("popup");
        assert.deepEqual(await page.evaluate(`(${ATTACK})(${JSON.stringify(served.origin)})`), []);
        await isIn(await opening); // The window shows the user's own page, and the other page can read nothing of it.
        assert.equal(await page.evaluate(READ_WINDOW), "refused");
        assert.deepEqual(await page.evaluate("Object.keys(localStorage)"), []);
        assert.ok(!existsSync(path.join(run.home.folder, "commands")), "no command arrived");
        for (const headers of heard) {
          assert.equal(headers.cookie, undefined);
          assert.ok(!(headers.referer ?? "").includes("sign-in"));
        }
        await own.reload();
        await isIn(own); // The attempts have not signed the browser out.
        await context.close();
      } finally {
        evil.closeAllConnections();
        evil.close();
      }
    });

  it("signs out a browser that was revoked, and lets it in again by the next link", LIMIT, async () => {
    const page = await openPage(browser, served.address, { isRefused: true });
    await isIn(page);
    await page.goto(`${served.origin}/#//devices`);
    await page.locator("li", { hasText: "(this one)" }).getByRole("button", { name: "Revoke" }).click();
    await isOut(page);
    await page.goto(served.address);
    await isIn(page);
    await page.context().close();
  });
});

/** Everything that a page can do to another origin. Gives what it could read. */
const ATTACK = `async (origin) => {
  const got = [];
  const commands = origin + "/api/runs/1118-made/commands";
  const credentials = "include";
  const cancel = JSON.stringify({ type: "cancel", reason: "evil" });
  const guess = { Authorization: "Bearer guess" };
  const tries = [
    ["/", {}],
    ["/api/runs", { credentials }],
    ["/api/runs", { credentials, headers: guess }],
    ["/api/runs/1118-made/events", { credentials }],
    ["/api/devices", { method: "POST", credentials }],
    ["/api/devices", { method: "POST", headers: guess }],
    ["/api/runs/1118-made/commands", { method: "POST", body: cancel, credentials }],
    ["/api/runs/1118-made/commands", { method: "POST", body: cancel, headers: { "Content-Type": "application/json" } }],
    ["/api/runs/1118-made/commands", { method: "POST", body: JSON.stringify({ type: "deliver" }), credentials }],
  ];
  for (const [path, options] of tries) {
    await fetch(origin + path, options).then(async (said) => got.push(path + await said.text()), () => {});
    // It may be sent, and cannot be read: what arrives must do nothing.
    await fetch(origin + path, { ...options, mode: "no-cors" }).catch(() => {});
  }
  const load = (name, fields) => new Promise((resolve) => {
    const element = Object.assign(document.createElement(name), fields);
    element.onload = () => resolve(got.push("loaded " + name));
    element.onerror = resolve;
    document.body.append(element);
  });
  await load("script", { src: origin + "/assets/main.js" });
  await load("img", { src: origin + "/api/repository" });
  await load("link", { rel: "stylesheet", href: origin + "/assets/style.css" });
  await new Promise((resolve) => {
    const stream = new EventSource(origin + "/api/runs/1118-made/events", { withCredentials: true });
    stream.onmessage = ({ data }) => resolve(got.push("streamed " + data));
    stream.onerror = () => resolve(stream.close());
  });
  const frame = Object.assign(document.createElement("iframe"), { name: "frame" });
  const shown = (show) => new Promise((resolve) => {
    frame.onload = resolve;
    show();
  });
  await shown(() => {
    frame.src = origin + "/";
    document.body.append(frame);
  });
  try {
    got.push("framed " + frame.contentWindow.localStorage.length);
  } catch {}
  const form = Object.assign(document.createElement("form"), { action: commands, method: "post", enctype: "text/plain" });
  form.target = "frame";
  form.append(Object.assign(document.createElement("input"), { name: '{"type":"cancel","reason":"', value: '"}' }));
  document.body.append(form);
  await shown(() => form.submit());
  window.opened = window.open(origin + "/");
  return got;
}`;

const READ_WINDOW = `(() => {
  try {
    return opened.localStorage.getItem("skein");
  } catch {
    return "refused";
  }
})()`;
