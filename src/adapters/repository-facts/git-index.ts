/**
 * Which files does git track, by its index alone? Who asks for a plan need not wait for another program: to start git
 * and to hear it takes as long as Node's own start. Whatever is not the plain case is left to git.
 */

export type Tracked = {
  /** Plain files; links and other repositories are left out. */
  readonly entries: readonly { readonly path: string; readonly bytes: number }[];
  /** There are more than were wanted. */
  readonly isCut: boolean;
};

/** Before the name: times, device, owner, mode, size, a SHA-1 and flags. */
const FIXED_BYTES = 62;
const MODE_AT = 24;
const SIZE_AT = 36;
const FLAGS_AT = 60;
const EXTENDED = 0x4000;
const CHECKSUM_BYTES = 20;

const PLAIN_FILES: ReadonlySet<number> = new Set([0o100644, 0o100755]);
const OTHERS: ReadonlySet<number> = new Set([0o120000, 0o160000]);

/**
 * Undefined if it is not the index that nearly everybody has: version 2 or 3, SHA-1, whole, and in itself right. Sizes
 * are those that git last saw on the disk.
 */
export function readIndex(index: Buffer, maxEntries: number): Tracked | undefined {
  if (index.length < 12 + CHECKSUM_BYTES || index.toString("latin1", 0, 4) !== "DIRC") return undefined;
  const version = index.readUInt32BE(4);
  if (version !== 2 && version !== 3) return undefined;
  const count = index.readUInt32BE(8);
  const end = index.length - CHECKSUM_BYTES;
  const entries: { path: string; bytes: number }[] = [];
  let seen = 0;
  let last = "";
  let at = 12;
  for (let i = 0; i < count; i += 1) {
    if (at + FIXED_BYTES >= end) return undefined;
    const mode = index.readUInt32BE(at + MODE_AT);
    if (!PLAIN_FILES.has(mode) && !OTHERS.has(mode)) return undefined; // A folder of a sparse index; or it is no SHA-1.
    const more = (index.readUInt16BE(at + FLAGS_AT) & EXTENDED) === 0 ? 0 : 2;
    if (more > 0 && version === 2) return undefined;
    const name = at + FIXED_BYTES + more;
    const stop = index.indexOf(0, name);
    if (stop <= name || stop >= end) return undefined;
    if (PLAIN_FILES.has(mode)) {
      const path = index.toString("utf8", name, stop);
      const isNew = path !== last; // Each side of a conflict has its own entry.
      last = path;
      if (isNew) seen += 1;
      if (isNew && seen <= maxEntries) entries.push({ path, bytes: index.readUInt32BE(at + SIZE_AT) });
    }
    at += (stop - at + 8) & ~7; // Padded with one to eight zeros.
  }
  return isWhole(index, at, end) ? { entries, isCut: seen > entries.length } : undefined;
}

/** Of a split index the rest is in another file; what else follows the entries is nothing to us. */
function isWhole(index: Buffer, from: number, end: number): boolean {
  let at = from;
  while (at + 8 <= end) {
    const name = index.toString("latin1", at, at + 4);
    if (name === "link" || name === "sdir") return false;
    at += 8 + index.readUInt32BE(at + 4);
  }
  return at === end;
}
