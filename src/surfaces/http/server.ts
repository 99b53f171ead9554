/** The server of the page: who is let in, what every answer says of itself, the page's files, and the devices. */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { type Access, COOKIE, refusedOrigin } from "./access.ts";
import { browserName } from "./browser-name.ts";
import type { Page } from "./page.ts";
import { addRuns, type RunsParts } from "./runs.ts";
import { streamsFor } from "./streams.ts";

type ServerParts = Omit<RunsParts, "openStream"> & {
  readonly access: Access;
  /** "127.0.0.1:4000" and the like: what a request may call this server. */
  readonly hosts: ReadonlySet<string>;
  readonly isSecure: boolean;
  readonly page: Page;
};

const MAX_BODY_BYTES = 64 * 1024;
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export function createServerApp(parts: ServerParts): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    const refused = refusedOrigin(
      { host: c.req.header("host"), origin: c.req.header("origin"), site: fetchSite(c) },
      parts.hosts,
    );
    if (refused !== undefined) return c.text(`refused: ${refused}\n`, 403);
    await next();
    c.header("Content-Security-Policy", CSP);
    c.header("X-Content-Type-Options", "nosniff");
    c.header("Referrer-Policy", "no-referrer");
    c.header("Cross-Origin-Opener-Policy", "same-origin");
    if (c.res.headers.get("Cache-Control") === null) c.header("Cache-Control", "no-store");
    return undefined;
  });
  app.use(async (c, next) => admit(c, next, parts));
  app.use(
    "/api/*",
    bodyLimit({ maxSize: MAX_BODY_BYTES, onError: (c) => c.json({ error: "too large" }, 413) }),
  );
  addPage(app, parts);
  addRuns(app, {
    ...parts,
    openStream: streamsFor({ revocations: parts.access.revocations, isIn: (c) => isIn(c, parts.access) }),
  });
  addDevices(app, parts);
  app.notFound((c) => c.json({ error: "not found" }, 404));
  app.onError((error, c) => {
    console.error(`skein serve: ${error.message}`);
    return c.json({ error: "the server failed; its terminal says why" }, 500);
  });
  return app;
}

/** A link in a mail to our address is a navigation of another site: it shows the page, and can send nothing. */
const fetchSite = (c: Context) =>
  c.req.header("sec-fetch-mode") === "navigate" && c.req.method === "GET"
    ? undefined
    : c.req.header("sec-fetch-site");

/** The token in the address becomes a cookie, and leaves the address. */
async function admit(c: Context, next: () => Promise<void>, { access, isSecure }: ServerParts) {
  const token = c.req.query("token");
  if (token !== undefined && c.req.method === "GET" && c.req.path === "/") {
    const cookie = access.admit(token, c.req.header("user-agent") ?? "unknown", Date.now());
    if (cookie === undefined)
      return notLetIn(c, "This address is not valid any more: skein serve prints a new one with each start.");
    setCookie(c, COOKIE, cookie, {
      httpOnly: true,
      sameSite: "Strict",
      path: "/",
      secure: isSecure,
      maxAge: 2_592_000,
    });
    return c.redirect("/");
  }
  const device = access.deviceOf(getCookie(c, COOKIE));
  if (device) access.use(device, Date.now());
  if (!isIn(c, access))
    return notLetIn(c, "Open the address that skein serve printed: it lets this browser in.");
  return next();
}

/** A page for who opens an address, and words for programs. It needs no file of ours: nobody was let in. */
function notLetIn(c: Context, why: string): Response {
  if (!(c.req.header("accept") ?? "").includes("text/html")) return c.text(`${why}\n`, 401);
  return c.html(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
      `<meta name="color-scheme" content="light dark"><title>Skein</title><main><h1>This browser is not let in</h1>` +
      `<p>${why}</p><p>It is in the terminal in which <code>skein serve</code> runs, ` +
      `and begins with <code>http://127.0.0.1:</code> and a port.</p></main>`,
    401,
  );
}

function isIn(c: Context, access: Access): boolean {
  const bearer = /^Bearer (.+)$/.exec(c.req.header("authorization") ?? "")?.[1];
  return (
    access.deviceOf(getCookie(c, COOKIE)) !== undefined || (bearer !== undefined && access.isToken(bearer))
  );
}

function addPage(app: Hono, { page: { asset } }: ServerParts): void {
  const send = (c: Context, name: string) => {
    const found = asset(name);
    return found ? c.body(found.body, 200, { "Content-Type": found.type }) : c.notFound();
  };
  app.get("/", (c) => send(c, "index.html"));
  app.get("/assets/:name", (c) => send(c, c.req.param("name")));
}

function addDevices(app: Hono, { access }: ServerParts): void {
  app.get("/api/devices", (c) => {
    const own = access.deviceOf(getCookie(c, COOKIE))?.id;
    const listed = access.devices().map(({ name, since, usedAt = since, ...device }) => ({
      ...{ ...device, since, usedAt, name: browserName(name), isThis: device.id === own },
    }));
    return c.json(listed.sort((a, b) => Number(b.isThis) - Number(a.isThis) || b.usedAt - a.usedAt));
  });
  app.delete("/api/devices/:id", (c) => {
    if (!access.revoke(c.req.param("id"))) return c.json({ error: "no such device" }, 404);
    if (access.deviceOf(getCookie(c, COOKIE)) === undefined) deleteCookie(c, COOKIE);
    return c.json({ ok: true });
  });
}
