/** Decides who may talk to the server: a browser that opened the printed address once, on an allowed host. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Device, Devices } from "../../ports/devices.ts";

export const COOKIE = "skein_device";
const MAX_DEVICES = 50;
const MAX_NAME_CHARS = 300;
/** When a device was last used is written so rarely: a page asks every few seconds. */
const USED_MS = 300_000;

export class Access {
  /** In the address that the command prints; new with every start. */
  readonly token: string = secret();
  /** Says "revoked": open streams look again whether they may go on. */
  readonly revocations = new EventTarget();
  readonly #store: Devices;

  constructor(store: Devices) {
    this.#store = store;
  }

  /** The cookie for a browser that brought the right token. */
  admit(token: string, name: string, now: number): string | undefined {
    if (!this.isToken(token)) return undefined;
    const cookie = secret();
    const device = {
      id: secret().slice(0, 8),
      hash: hashOf(cookie),
      name: name.slice(0, MAX_NAME_CHARS),
      since: now,
      usedAt: now,
    };
    this.#store.write([...this.#store.read(), device].slice(-MAX_DEVICES));
    return cookie;
  }

  isToken(token: string): boolean {
    return isSame(token, this.token);
  }

  deviceOf(cookie: string | undefined): Device | undefined {
    if (!cookie) return undefined;
    const hash = hashOf(cookie);
    return this.#store.read().find((device) => isSame(device.hash, hash));
  }

  /** It asks for something. */
  use({ id }: Device, now: number): void {
    const all = this.#store.read();
    const { since, usedAt = since } = all.find((device) => device.id === id) ?? { since: now };
    if (now - usedAt < USED_MS) return;
    this.#store.write(all.map((device) => (device.id === id ? { ...device, usedAt: now } : device)));
  }

  devices(): readonly Omit<Device, "hash">[] {
    return this.#store.read().map(({ hash: _, ...device }) => device);
  }

  revoke(id: string): boolean {
    const all = this.#store.read();
    const kept = all.filter((device) => device.id !== id);
    if (kept.length === all.length) return false;
    this.#store.write(kept);
    this.revocations.dispatchEvent(new Event("revoked"));
    return true;
  }
}

const secret = () => randomBytes(32).toString("base64url");
const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");
const isSame = (a: string, b: string) =>
  timingSafeEqual(Buffer.from(hashOf(a), "hex"), Buffer.from(hashOf(b), "hex"));

/** What the headers of a request say about where it comes from. */
type Origins = {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly site: string | undefined;
};

/**
 * Why a request is refused before anybody asks who sent it: another name for this address (DNS rebinding), or a page
 * of another site that makes the browser send our cookie.
 */
export function refusedOrigin(
  { host, origin, site }: Origins,
  hosts: ReadonlySet<string>,
): string | undefined {
  if (host === undefined || !hosts.has(host.toLowerCase())) return "unknown host";
  if (origin !== undefined && !isOwn(origin, hosts)) return "foreign origin";
  return site === "cross-site" ? "foreign site" : undefined;
}

function isOwn(origin: string, hosts: ReadonlySet<string>): boolean {
  try {
    const { protocol, host } = new URL(origin);
    return /^https?:$/.test(protocol) && hosts.has(host.toLowerCase());
  } catch {
    return false; // "null", of a sandboxed frame or a file.
  }
}
