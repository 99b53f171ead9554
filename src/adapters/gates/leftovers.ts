/** Names the leftover files over which a gate may have failed; those that its output mentions come first. */
import path from "node:path";
import type { GateLeftovers } from "../../core/gate.ts";
import { hasFailed } from "../../core/result.ts";
import type { Workspace, Workspaces } from "../../ports/workspaces.ts";

/** Undefined if the workspace has no leftovers. If that cannot be checked, the workspace counts as used. */
export async function leftoversFor(
  workspace: Workspace,
  said: string,
  { workspaces, redact }: { readonly workspaces: Workspaces; readonly redact: (text: string) => string },
  signal: AbortSignal,
): Promise<GateLeftovers | undefined> {
  const found = await workspaces.leftovers(workspace, signal);
  if (hasFailed(found)) return { files: [] };
  const all = [
    ...found.left.map((file) => ({ file, what: "" })),
    ...found.removed.map((file) => ({ file, what: " (removed)" })),
  ];
  if (all.length === 0) return undefined;
  const rank = (file: string) => (said.includes(file) ? 0 : said.includes(path.basename(file)) ? 1 : 2);
  const ranked = all.map((one) => ({ ...one, rank: rank(one.file) })).toSorted((a, b) => a.rank - b.rank);
  const files = ranked.slice(0, MAX_NAMED).map(({ file, what }) => `${redact(plain(file))}${what}`);
  const more = all.length - files.length;
  return { files, ...(more > 0 && { more }) };
}

/** As many as people read. */
const MAX_NAMED = 10;
const MAX_CHARS = 200;

const plain = (file: string): string => {
  const shown = /\p{Cc}/u.test(file) ? JSON.stringify(file) : file;
  return shown.length > MAX_CHARS ? `${shown.slice(0, MAX_CHARS)}…` : shown;
};
