/** Tests that the web server admits only known devices, and refuses requests that are hostile, slow or too large. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { transcriptName } from "../../src/adapters/transcripts.ts";
import { seeRun } from "../../src/app/see-run.ts";
import { hasFailed } from "../../src/core/result.ts";
import { type MadeRun, makeRun, type Served, serve, specOf } from "./place.ts";

type Answer = { readonly status: number; readonly body: string; readonly headers: Record<string, unknown> };

describe("the web server", () => {
  let run: MadeRun;
  let served: Served;
  before(async () => {
    run = await makeRun("Add <script>alert(1)</script> a greeting");
    served = await serve(run.project);
  });
  after(async () => {
    await served[Symbol.asyncDispose]();
    await run[Symbol.asyncDispose]();
  });

  /** Not `fetch`, which would not send another Host. The path is sent unchanged. */
  const ask = (
    target: string,
    {
      method = "GET",
      headers = {},
      body,
    }: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ): Promise<Answer> => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const call = request(
      { host: "127.0.0.1", port: served.port, path: target, method, headers },
      (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            body: Buffer.concat(parts).toString("utf8"),
            headers: response.headers,
          }),
        );
      },
    );
    call.once("error", reject);
    call.end(body);
    return promise;
  };
  const bearer = () => ({ Authorization: `Bearer ${served.token}` });

  /** Signs in as the page does. */
  const signIn = async (agent = "test"): Promise<Record<string, string>> => {
    const link = served.address.split("sign-in=")[1]!;
    const headers = { Authorization: `Bearer ${link}`, "User-Agent": agent };
    const { status, body } = await ask("/api/devices", { method: "POST", headers });
    assert.equal(status, 200, body);
    return { Authorization: `Bearer ${JSON.parse(body).secret}` };
  };
  const TARGETS = [
    "/api/repository",
    "/api/runs",
    "/api/runs/1118-made/events",
    "/api/runs/1118-made",
    "/api/runs/1118-made/transcripts/check%231",
    "/api/runs/1118-made/gate/check%231",
    "/api/runs/1118-made/attempts/t.1/1",
    `/api/runs/1118-made/diff/${"0".repeat(40)}/${"0".repeat(40)}`,
    "/api/devices",
    "/api/nothing",
  ];

  it("says nothing of a repository and does nothing without a device's secret in a header", async () => {
    const secret = served.token;
    const link = served.address.split("sign-in=")[1]!;
    const body = JSON.stringify({ type: "pause" });
    for (const headers of [
      {},
      { Authorization: "Bearer wrong" },
      { Authorization: `Bearer ${link}` },
      { Authorization: `Basic ${secret}` },
      { Cookie: `skein_device=${secret}; Authorization=${secret}` },
    ] as Record<string, string>[]) {
      for (const target of TARGETS) {
        for (const path of [target, `${target}?token=${secret}`])
          assert.equal((await ask(path, { headers })).status, 401, path);
      }
      assert.equal((await ask("/api/devices/x", { method: "DELETE", headers })).status, 401);
      const told = { method: "POST", headers, body };
      assert.equal((await ask("/api/runs/1118-made/commands", told)).status, 401);
    }
    for (const target of ["/", "/?token=x", "/assets/main.js"]) {
      const { status, body: page, headers } = await ask(target);
      assert.equal(status, 200);
      assert.ok(!page.includes(run.project.located.top) && !page.includes("1118-made"), target);
      assert.equal(headers["set-cookie"], undefined);
    }
  });

  it("names devices by browser and system, with their last use", async () => {
    const headers = await signIn("Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0");
    const { body } = await ask("/api/devices", { headers });
    const [own] = JSON.parse(body) as { name: string; isThis: boolean; usedAt: number; since: number }[];
    assert.deepEqual([own?.name, own?.isThis], ["Firefox on Linux", true]);
    assert.ok(own!.usedAt >= own!.since);
  });

  it("hands out what a run of the gate wrote, what failed first and all of it only if it is asked for", async () => {
    const folder = path.join(run.home.folder, "transcripts");
    mkdirSync(folder, { recursive: true });
    const text =
      "$ npm test\nok 1 - fine\n\u001b[31mnot ok 2 - <b>broken</b>\u001b[0m\u202e\n[exit code 1]\n";
    writeFileSync(path.join(folder, transcriptName("land#7")), text);
    const read = async (target: string) =>
      JSON.parse((await ask(`/api/runs/1118-made/${target}`, { headers: bearer() })).body);
    const first = await read("gate/land%237");
    assert.equal(first.total, 4);
    assert.equal(first.lines, undefined);
    assert.match(JSON.stringify(first.excerpt), /not ok 2 - <b>broken<\/b>/);
    for (const mark of ["fine", "\\u001b", "\u202e"]) assert.ok(!JSON.stringify(first).includes(mark), mark);
    assert.ok((await read("gate/land%237?all=1")).lines.includes("ok 1 - fine"));
    writeFileSync(path.join(folder, transcriptName("land#7/mabc1234.1")), text);
    assert.equal((await read("gate/land%237%2Fmabc1234.1")).total, 4, "as a fleet names it");
    assert.match((await read("gate/land%237%2F..%2F..%2Fevents.db")).why, /not kept/);
    assert.match((await read("gate/land%238")).why, /not kept/);
    assert.match((await read("attempts/t.1/1")).why, /No work of it is kept/);
    for (const target of ["gate/..%2f..%2fevents.db", "gate/plan", "attempts/x/1", "attempts/t.1/-1"])
      assert.match((await read(target)).error, /^no such/, target);
  });

  it("lets in one browser by a link, once, and keeps only the hash of its secret", async () => {
    const link = served.address.split("sign-in=")[1]!;
    const asking = { method: "POST", headers: { Authorization: `Bearer ${link}` } };
    const both = await Promise.all([ask("/api/devices", asking), ask("/api/devices", asking)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 401]);
    assert.equal((await ask("/api/devices", asking)).status, 401, "a link works once");
    assert.equal((await ask("/api/devices", { method: "POST" })).status, 401);
    const secret: string = JSON.parse(both.find(({ status }) => status === 200)!.body).secret;
    const stored = readFileSync(path.join(run.project.stateFolder, "page-devices.json"), "utf8");
    assert.ok(!stored.includes(secret) && !stored.includes(link) && !stored.includes(served.token));
    const headers = { Authorization: `Bearer ${secret}` };
    const list = await ask("/api/runs", { headers });
    assert.deepEqual(
      JSON.parse(list.body).map(({ run: name, label }: { run: string; label: string }) => [name, label]),
      [["1118-made", "running"]],
    );

    const [device] = JSON.parse((await ask("/api/devices", { headers })).body);
    assert.equal(device.isThis, true);
    assert.equal((await ask(`/api/devices/${device.id}`, { method: "DELETE", headers })).status, 200);
    assert.equal((await ask("/api/runs", { headers })).status, 401, "a device that was revoked is out");
  });

  it("refuses another host, a foreign origin and a foreign site", async () => {
    const refused = async (headers: Record<string, string>, method = "GET") =>
      assert.equal((await ask("/api/runs", { method, headers: { ...bearer(), ...headers } })).status, 403);
    await refused({ Host: "evil.example" });
    await refused({ Host: `localhost.evil.example:${served.port}` });
    await refused({ Origin: "https://evil.example" });
    await refused({ Origin: "http://127.0.0.1:1" });
    await refused({ Origin: "null" });
    await refused({ "Sec-Fetch-Site": "cross-site" });
    await refused({ "Sec-Fetch-Site": "same-site" });
    const own = { ...bearer(), Origin: served.origin, "Sec-Fetch-Site": "same-origin" };
    assert.equal((await ask("/api/runs", { headers: own })).status, 200);
  });

  it("finds nothing outside of what it serves, whatever the path says", async () => {
    for (const part of [
      "..",
      "%2e%2e",
      "..%2f..%2fetc%2fpasswd",
      "a%00b",
      "%2Fetc%2Fpasswd",
      "-x",
      "x".repeat(500),
    ])
      for (const target of [
        `/assets/${part}`,
        `/api/runs/${part}/events`,
        `/api/runs/${part}/transcripts/check%231`,
        `/api/runs/1118-made/transcripts/${part}`,
        `/api/runs/1118-made/transcripts/work:${part}%231`,
        `/api/runs/${part}/diff/${run.base}/${run.base}`,
        `/api/runs/1118-made/diff/${part}/${run.base}`,
        `/api/runs/1118-made/diff/${run.base}/${part}`,
        `POST /api/runs/${part}/commands`,
        `DELETE /api/devices/${part}`,
      ]) {
        const [method = "", path = target] = target.startsWith("/") ? ["GET"] : target.split(" ");
        const said = method === "POST" ? { body: JSON.stringify({ type: "pause" }) } : {};
        const { status, body } = await ask(path, { method, headers: bearer(), ...said });
        // A path that consists of dots is the page itself.
        assert.ok(status === 404 || body.includes('<div id="app">'), `${target}: ${status}`);
        assert.doesNotMatch(body, /root:/);
      }
  });

  it("says with every answer that a page may load only its own files, without inline scripts", async () => {
    const { headers, body } = await ask("/", { headers: bearer() });
    const csp = String(headers["content-security-policy"]);
    assert.match(csp, /default-src 'none'/);
    assert.doesNotMatch(csp, /unsafe|https?:/);
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.doesNotMatch(body, /<script(?![^>]*src=)/);
    assert.doesNotMatch(body, /(?:src|href)="(?:https?:)?\/\//);
  });

  it("sends the events after a number, and takes up where a browser was", async () => {
    await run.append({ type: "run.paused" }, { type: "run.resumed" });
    const stop = new AbortController();
    const response = await fetch(`${served.origin}/api/runs/1118-made/events`, {
      headers: { ...bearer(), "Last-Event-ID": "1" },
      signal: stop.signal,
    });
    let text = "";
    for await (const part of response.body!) {
      text += Buffer.from(part as Uint8Array).toString("utf8");
      if (text.includes("run.resumed")) break;
    }
    stop.abort();
    assert.ok(!text.includes("run.opened"));
    assert.match(text, /id: 3/);
  });

  it("refuses commands that no run understands, and bodies that are too large", async () => {
    const send = (body: string) =>
      ask("/api/runs/1118-made/commands", {
        method: "POST",
        headers: {
          ...bearer(),
          "Content-Type": "application/json",
          "Content-Length": String(Buffer.byteLength(body)),
        },
        body,
      });
    for (const body of [
      "",
      "{",
      "[]",
      '{"type":"open"}',
      '{"type":"steer"}',
      '{"type":"steer","message":" "}',
    ])
      assert.equal((await send(body)).status, 400, body);
    assert.equal((await send('{"type":"cancel","task":"../x"}')).status, 400);
    assert.equal((await send(JSON.stringify({ type: "steer", message: "x".repeat(100_000) }))).status, 413);
  });

  it("hands a command to the run, and its answer back", async () => {
    const { mailboxOf } = await import("../../src/compose/project.ts");
    const stop = new AbortController();
    const driving = (async () => {
      for await (const { command, answer } of mailboxOf(run.home).receive(stop.signal)) {
        await answer(
          command.type === "steer" ? { is: "heard" } : { is: "refused", reason: "nothing is proposed" },
        );
        if (command.type === "approve") return;
      }
    })();
    const send = (said: object) =>
      ask("/api/runs/1118-made/commands", { method: "POST", headers: bearer(), body: JSON.stringify(said) });
    const heard = await send({ type: "steer", message: "Keep the old name" });
    assert.deepEqual([heard.status, JSON.parse(heard.body)], [200, { ok: true }]);
    const refused = await send({ type: "approve" });
    assert.deepEqual(
      [refused.status, JSON.parse(refused.body)],
      [409, { ok: false, reason: "run 1118-made refused: nothing is proposed" }],
    );
    await driving;
    stop.abort();
  });

  it("closes a stopped run that is cancelled, says that it has nothing to pause, and what to do instead", async () => {
    const { project, base } = run;
    const record = { run: "1118-stopped", goal: "Stop", base, createdAt: Date.now(), settings: {} };
    const home = await project.runs.create(record);
    assert.ok(!hasFailed(home));
    const opened = { run: record.run, goal: record.goal, base };
    await home.log.append(0, [
      { type: "run.opened", request: opened, spec: specOf("goal", "Stop", "plan"), at: Date.now() },
    ]);
    const send = async (said: object) => {
      const { status, body } = await ask("/api/runs/1118-stopped/commands", {
        method: "POST",
        headers: bearer(),
        body: JSON.stringify(said),
      });
      return [status, JSON.parse(body)];
    };
    const note =
      "run 1118-stopped is stopped: there is nothing to pause. To continue: skein resume 1118-stopped";
    assert.deepEqual(await send({ type: "pause" }), [200, { ok: true, note }]);
    assert.deepEqual(await send({ type: "resume" }), [
      409,
      { ok: false, reason: "run 1118-stopped is stopped", next: "skein resume 1118-stopped" },
    ]);
    assert.deepEqual(await send({ type: "cancel", reason: "wrong goal" }), [
      200,
      { ok: true, note: "run 1118-stopped is closed: cancelled" },
    ]);
    const known = await seeRun(home);
    assert.ok(!hasFailed(known));
    assert.equal(known.seen.state.closed?.how, "cancelled");
  });

  /** Gives what the server sends until it closes the connection. */
  const sendRaw = (port: number, text: string): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    let got = "";
    socket.on("data", (data) => {
      got += String(data);
    });
    socket.on("error", () => {}); // The server closes the connection while the test writes.
    socket.once("close", () => resolve(got));
    return promise;
  };
  const post = (port: number, token: string, header: string) =>
    `POST /api/runs/1118-made/commands HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n${header}\r\n\r\n`;

  it("ends a request whose head or body never comes to an end", async () => {
    await using slow = await serve(run.project, { headMs: 100 });
    assert.match(await sendRaw(slow.port, "GET / HTTP/1.1\r\nX: "), /408|^$/);
    assert.match(await sendRaw(slow.port, `${post(slow.port, slow.token, "Content-Length: 30")}{`), /408|^$/);
  });

  it("answers although hundreds of connections were opened that ask nothing", async () => {
    // The server's time limit for request heads is far longer than this test.
    await using busy = await serve(run.project);
    const open = await Promise.all(
      Array.from({ length: 400 }, () => {
        const { promise, resolve } = Promise.withResolvers<Socket>();
        const socket = connect(busy.port, "127.0.0.1", () => resolve(socket.on("error", () => {})));
        return promise;
      }),
    );
    try {
      const response = await fetch(`${busy.origin}/api/repository`, {
        headers: { Authorization: `Bearer ${busy.token}` },
        signal: AbortSignal.timeout(5_000),
      });
      assert.equal(response.status, 200);
    } finally {
      for (const socket of open) socket.destroy();
    }
  });

  it("refuses heads and bodies that are huge, also of a length that nobody states", async () => {
    const head = `GET / HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\nX: ${"x".repeat(100_000)}\r\n\r\n`;
    assert.match(await sendRaw(served.port, head), /^HTTP\/1\.1 431/);
    const address = `GET /${"x".repeat(100_000)} HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\n\r\n`;
    assert.match(await sendRaw(served.port, address), /^HTTP\/1\.1 431/);
    const chunk = `${(10_000).toString(16)}\r\n${"x".repeat(10_000)}\r\n`;
    const chunked = `${post(served.port, served.token, "Connection: close\r\nTransfer-Encoding: chunked")}${chunk.repeat(20)}0\r\n\r\n`;
    assert.match(await sendRaw(served.port, chunked), /^HTTP\/1\.1 413/);
  });

  it("ends the streams of a device that is revoked", async () => {
    const headers = await signIn();
    const response = await fetch(`${served.origin}/api/runs/1118-made/events`, { headers });
    const devices = await ask("/api/devices", { headers });
    const own = JSON.parse(devices.body).find(({ isThis }: { isThis: boolean }) => isThis);
    await ask(`/api/devices/${own.id}`, { method: "DELETE", headers: bearer() });
    for await (const _ of response.body!); // The stream comes to its end.
  });

  it("shows the change between two commits of the repository", async () => {
    const { git } = { git: run.base };
    const nothing = await ask(`/api/runs/1118-made/diff/${git}/${git}`, { headers: bearer() });
    assert.deepEqual(JSON.parse(nothing.body), { diff: "" });
    const unknown = "0".repeat(40);
    assert.equal(
      (await ask(`/api/runs/1118-made/diff/${unknown}/${git}`, { headers: bearer() })).status,
      404,
    );
  });
});
