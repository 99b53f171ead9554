/** Keeps the browsers that were let in, in one file that only its owner can read. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import * as z from "zod";
import type { Device, Devices } from "../ports/devices.ts";

const STORED = z.array(
  z.object({
    id: z.string(),
    hash: z.string(),
    name: z.string(),
    since: z.number(),
    usedAt: z.number().optional(),
  }),
);

/** Must not be the file of an older Skein: browsers also sent its cookies to other servers of this machine. */
export const deviceFile = (file: string): Devices => ({
  read: () => {
    try {
      return STORED.parse(JSON.parse(readFileSync(file, "utf8"))) as readonly Device[];
    } catch {
      return []; // There is no file yet, or it is unreadable.
    }
  },
  write: (devices) => {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.new`, JSON.stringify(devices), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  },
});
