/** Remembers the gates of a repository that failed without the tree's sources, the latest ones, in one state file. */
import path from "node:path";
import * as z from "zod";
import { parseJson } from "../../text/json.ts";
import { readShort } from "../files/read-bounded.ts";
import { writeDurably } from "../files/write-whole.ts";

export type ProvedGates = {
  has(key: string): Promise<boolean>;
  /** Never fails: a gate that could not be written is probed again. */
  add(key: string): Promise<void>;
};

const PROVED = z.object({ version: z.literal(1), keys: z.array(z.string()) });

/** `folder` is the repository's own state folder. A file that cannot be read counts as empty, and is replaced. */
export function provedGatesIn(folder: string): ProvedGates {
  const file = path.join(folder, "proved.json");
  const read = async (): Promise<readonly string[]> =>
    PROVED.safeParse(parseJson(await readShort(file))).data?.keys ?? [];
  return {
    has: async (key) => (await read()).includes(key),
    add: async (key) => {
      const keys = [...(await read()).filter((one) => one !== key), key].slice(-MAX_KEYS);
      await writeDurably(file, `${JSON.stringify({ version: 1, keys })}\n`).catch(() => {}); // Probed again.
    },
  };
}

/** Room for branches with different lock files, and a few changes of each. */
const MAX_KEYS = 50;
