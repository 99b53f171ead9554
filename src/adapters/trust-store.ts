/** Keeps what a person agreed to for one repository: a file for each agreement, in the state folder. */
import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import { messageOf } from "../core/failure.ts";
import { type Failed, failedWith } from "../core/result.ts";
import { askId, type TrustStore } from "../ports/trust.ts";
import { isRecord, parseJson } from "../text/json.ts";
import { readText } from "./files/read-bounded.ts";
import { ignoreMissing, writeDurably } from "./files/write-whole.ts";

/**
 * Each agreement is a file, written whole under the ask's own id: two processes that agree at once write different
 * files, or the same file with the same content.
 */
export function trustStore(stateFolder: string): TrustStore {
  const folder = path.join(stateFolder, "trust");
  return {
    async agreed() {
      try {
        const ids: string[] = [];
        for (const name of await namesIn(folder)) {
          const id = name.slice(0, -ENDING.length);
          const wrong = await problemOf(path.join(folder, name), id);
          if (wrong !== undefined) return damaged(path.join(folder, name), wrong);
          ids.push(id);
        }
        return ids;
      } catch (error) {
        return damaged(folder, `cannot be read: ${messageOf(error)}`);
      }
    },
    async agree(asks, by) {
      try {
        for (const ask of asks) {
          const { is, from, name, words } = ask; // Without the value, which may hold a key; the id has its hash.
          const record = { format: FORMAT, id: askId(ask), is, from, name, words, by, at: new Date() };
          await writeDurably(
            path.join(folder, askId(ask) + ENDING),
            `${JSON.stringify(record, undefined, 2)}\n`,
          );
        }
        return undefined;
      } catch (error) {
        return failedWith(
          "repository",
          `what was agreed to cannot be kept in ${folder}: ${messageOf(error)}`,
          "check that the folder is writable and the disk has space",
        );
      }
    },
    async revoke() {
      try {
        const names = await namesIn(folder);
        for (const name of names) await rm(path.join(folder, name), { force: true });
        return names.length;
      } catch (error) {
        return damaged(folder, `cannot be emptied: ${messageOf(error)}`);
      }
    },
  };
}

const FORMAT = 1;
const ENDING = ".json";
const MAX_BYTES = 100_000;

/** Drafts of writers that were killed have another ending. */
const namesIn = async (folder: string): Promise<readonly string[]> =>
  ((await readdir(folder).catch(ignoreMissing)) ?? []).filter((name) => name.endsWith(ENDING));

async function problemOf(file: string, id: string): Promise<string | undefined> {
  const read = await readText(file, MAX_BYTES);
  if (read === undefined) return "is gone";
  if ("problem" in read) return read.problem;
  const record = parseJson(read.text);
  if (!isRecord(record)) return "is not JSON";
  if (record["format"] !== FORMAT)
    return `has the format ${String(record["format"])}; this Skein knows ${FORMAT}`;
  return record["id"] === id ? undefined : "speaks of something else than its name says";
}

const damaged = (file: string, why: string): Failed =>
  failedWith(
    "repository",
    `what was agreed to for this repository is not known: ${file} ${why}`,
    "remove that file, and agree again: skein trust",
  );
