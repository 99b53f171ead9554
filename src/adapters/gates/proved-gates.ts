/** Which gates were seen to look at the tree that they run in? The last of a repository, in one file of its state. */
import { randomBytes } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import path from "node:path";
import { readShort } from "../files/read-bounded.ts";
import { writeDurably } from "../files/write-whole.ts";

export type ProvedGates = {
  has(key: string): Promise<boolean>;
  /** Never fails: what could not be written is probed again. */
  add(key: string): Promise<void>;
};

/** `folder` is the repository's own state folder. A file that cannot be read says nothing, and is replaced. */
export function provedGatesIn(folder: string): ProvedGates {
  const file = path.join(folder, "proved.json");
  return {
    has: async (key) => (await read(file)).includes(key),
    add: async (key) => {
      const keys = [...(await read(file)).filter((one) => one !== key), key].slice(-MAX_KEYS);
      await put(file, `${JSON.stringify({ version: VERSION, keys })}\n`).catch(() => {}); // The next run probes.
    },
  };
}

const VERSION = 1;
/** Branches with different lock files, and a few changes of each. */
const MAX_KEYS = 50;

async function read(file: string): Promise<readonly string[]> {
  try {
    const { version, keys }: { version?: unknown; keys?: unknown } = Object(
      JSON.parse(await readShort(file)),
    );
    const isOurs = version === VERSION && Array.isArray(keys) && keys.every((key) => typeof key === "string");
    return isOurs ? keys : [];
  } catch {
    return []; // Not there, or damaged: nothing is known.
  }
}

/** Under a name of its own first: two runs that write one draft would mix. */
async function put(file: string, text: string): Promise<void> {
  const own = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    await writeDurably(own, text);
    await rename(own, file);
  } finally {
    await rm(own, { force: true });
  }
}
