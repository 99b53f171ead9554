/** Decides which devices may use the server: a link that works once lets in a device, which then has its own secret. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Device, Devices } from "../../ports/devices.ts";
import { browserName } from "./browser-name.ts";

const MAX_DEVICES = 50;
const MAX_NAME_CHARS = 300;
/** The interval for storing when a device was last used, because a page asks every few seconds. */
const USED_MS = 300_000;

export class Access {
  #link = secret();
  /** Sends "revoked", so that open streams check again whether they may continue. */
  readonly revocations = new EventTarget();
  readonly #store: Devices;
  readonly #linkUsed: () => void;

  constructor(store: Devices, linkUsed: () => void = () => {}) {
    this.#store = store;
    this.#linkUsed = linkUsed;
  }

  /** The link in the printed address, which lets in one device. After its use there is a new one. */
  get link(): string {
    return this.#link;
  }

  /** The new secret of a device that brought the right link. */
  admit(link: string, name: string, now: number): string | undefined {
    if (!isSame(link, this.#link)) return undefined;
    this.#link = secret();
    const own = secret();
    const device = {
      id: secret().slice(0, 8),
      hash: hashOf(own),
      name: name.slice(0, MAX_NAME_CHARS),
      since: now,
      usedAt: now,
    };
    this.#keep([...withRoom(this.#store.read(), device), device]);
    this.#linkUsed();
    return own;
  }

  deviceOf(own: string | undefined): Device | undefined {
    if (!own) return undefined;
    const hash = hashOf(own);
    return this.#store.read().find((device) => isSame(device.hash, hash));
  }

  /** Records a request of the device. */
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
    this.#keep(kept);
    return true;
  }

  #keep(devices: readonly Device[]): void {
    this.#store.write(devices);
    this.revocations.dispatchEvent(new Event("revoked"));
  }
}

/**
 * Removes the least recently used device if there are too many: of the newcomer's kind, else of the most frequent kind.
 */
function withRoom(all: readonly Device[], newcomer: Device): readonly Device[] {
  if (all.length < MAX_DEVICES) return all;
  const kinds = Map.groupBy(all, ({ name }) => browserName(name));
  const most = [...kinds.values()].reduce((a, b) => (b.length > a.length ? b : a));
  const [oldest] = (kinds.get(browserName(newcomer.name)) ?? most).toSorted((a, b) => usedAt(a) - usedAt(b));
  return all.filter((device) => device !== oldest);
}

const usedAt = (device: Device): number => device.usedAt ?? device.since;

const secret = () => randomBytes(32).toString("base64url");
const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");
const isSame = (a: string, b: string) =>
  timingSafeEqual(Buffer.from(hashOf(a), "hex"), Buffer.from(hashOf(b), "hex"));

/** The headers of a request that say where it comes from. */
type Origins = {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly site: string | undefined;
};

/**
 * Why a request is refused before its sender is checked: another name for this address (DNS rebinding), or a page of
 * another origin. To a browser, another port of this machine is another origin, but the same site.
 */
export function refusedOrigin(
  { host, origin, site }: Origins,
  hosts: ReadonlySet<string>,
): string | undefined {
  if (host === undefined || !hosts.has(host.toLowerCase())) return "unknown host";
  if (origin !== undefined && !isOwn(origin, hosts)) return "foreign origin";
  return site === "cross-site" || site === "same-site" ? "foreign site" : undefined;
}

function isOwn(origin: string, hosts: ReadonlySet<string>): boolean {
  try {
    const { protocol, host } = new URL(origin);
    return /^https?:$/.test(protocol) && hosts.has(host.toLowerCase());
  } catch {
    return false; // "null", from a sandboxed frame or a file.
  }
}
