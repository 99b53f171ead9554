/** Makes what a run's workers need to call: the call server, and a start script of this very Skein. */
import { chmod, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import type { CallDoor } from "../agents/job-calls.ts";
import { ownFile } from "../own-files.ts";
import { CallDesk } from "./desk.ts";

/** `runFolder`: the folder of the run's own files. The call server must be closed with the run. */
export function callsOf(runFolder: string): CallDoor {
  let made: Promise<string> | undefined;
  const skein = () => {
    made ??= makeStart(path.join(runFolder, "skein")).catch((error: unknown) => {
      made = undefined; // The next job tries again.
      throw error;
    });
    return made;
  };
  return { desk: new CallDesk(), skein };
}

/**
 * Writes the start script. A worker's PATH may have an older Node, or none, and no `skein`; by this script it
 * starts the same Skein on the same Node.
 */
async function makeStart(file: string): Promise<string> {
  const lines = ["#!/bin/sh", `exec ${quoted(process.execPath)} ${quoted(LAUNCHER)} "$@"`, ""];
  await writeFile(`${file}.new`, lines.join("\n"));
  await chmod(`${file}.new`, 0o700);
  await rename(`${file}.new`, file);
  return file;
}

const LAUNCHER = ownFile("bin/skein");

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
