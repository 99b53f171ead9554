/** The page's server: access control, security headers, the page's files, and the signed-in devices. */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { type Access, refusedOrigin } from "./access.ts";
import { browserName } from "./browser-name.ts";
import type { Page } from "./page.ts";
import { addRuns, type RunsParts } from "./runs.ts";
import { streamsFor } from "./streams.ts";

type ServerParts = Omit<RunsParts, "openStream"> & {
  readonly access: Access;
  /** The hosts by which a request may call this server, such as "127.0.0.1:4000". */
  readonly hosts: ReadonlySet<string>;
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
    c.header("Cross-Origin-Resource-Policy", "same-origin");
    if (c.res.headers.get("Cache-Control") === null) c.header("Cache-Control", "no-store");
    return undefined;
  });
  app.use("/api/*", async (c, next) => admit(c, next, parts.access));
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

/** Following a link in a mail is a navigation from another site: it may show the page, but not send anything. */
const fetchSite = (c: Context) =>
  c.req.header("sec-fetch-mode") === "navigate" && c.req.method === "GET"
    ? undefined
    : c.req.header("sec-fetch-site");

/** The secret in a header: unlike a cookie, a browser never sends it by itself, nor to another port of this machine. */
const secretOf = (c: Context): string | undefined =>
  /^Bearer (.+)$/.exec(c.req.header("authorization") ?? "")?.[1];

const isIn = (c: Context, access: Access): boolean => access.deviceOf(secretOf(c)) !== undefined;

/** Protects everything about runs and devices; a sign-in link is only accepted where a device is created. */
async function admit(c: Context, next: () => Promise<void>, access: Access) {
  if (c.req.method === "POST" && c.req.path === DEVICES) return next();
  const device = access.deviceOf(secretOf(c));
  if (!device) return c.json({ error: NOT_LET_IN }, 401);
  access.use(device, Date.now());
  return next();
}

const DEVICES = "/api/devices";
const NOT_LET_IN =
  "this browser is not let in: open the address that skein serve printed last; each lets in one browser, once";

/** The page itself needs no sign-in, because it contains nothing of a repository. */
function addPage(app: Hono, { page: { asset } }: ServerParts): void {
  const send = (c: Context, name: string) => {
    const found = asset(name);
    return found ? c.body(found.body, 200, { "Content-Type": found.type }) : c.notFound();
  };
  app.get("/", (c) => send(c, "index.html"));
  app.get("/assets/:name", (c) => send(c, c.req.param("name")));
}

function addDevices(app: Hono, { access }: ServerParts): void {
  app.post(DEVICES, (c) => {
    const own = access.admit(secretOf(c) ?? "", c.req.header("user-agent") ?? "unknown", Date.now());
    return own === undefined ? c.json({ error: NOT_LET_IN }, 401) : c.json({ secret: own });
  });
  app.get(DEVICES, (c) => {
    const own = access.deviceOf(secretOf(c))?.id;
    const listed = access.devices().map(({ name, since, usedAt = since, ...device }) => ({
      ...{ ...device, since, usedAt, name: browserName(name), isThis: device.id === own },
    }));
    return c.json(listed.sort((a, b) => Number(b.isThis) - Number(a.isThis) || b.usedAt - a.usedAt));
  });
  app.delete(`${DEVICES}/:id`, (c) =>
    access.revoke(c.req.param("id")) ? c.json({ ok: true }) : c.json({ error: "no such device" }, 404),
  );
}
