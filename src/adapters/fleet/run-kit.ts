/** Packs what a worker needs of a repository besides commits: roles, templates, prompts, programs that are agents. */
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { RunRecord } from "../../ports/runs.ts";
import { fields, parseJson } from "../../text/json.ts";
import { readText } from "../files/read-bounded.ts";

/** Kept with the run, and the same for all of its workers: later changes of a checkout have no effect. */
export type RunKit = {
  readonly record: RunRecord;
  /** The address of the git remote, and whether workers push to it. */
  readonly remote: string;
  readonly push: boolean;
  readonly maxBundleBytes: number;
  readonly files: readonly KitFile[];
};

type KitFile = { readonly path: string; readonly text: string; readonly isProgram?: true };

/** The kit's name among the files of a run. */
export const KIT_FILE = "kit.json";

/** The folder of the prompts in the kit, wherever they were before. */
export const KIT_PROMPTS = "prompts";

const FOLDERS = [".claude/agents", ".skein/agents", ".skein/templates"];
const MCP_FILE = ".mcp.json";
const FILES = [MCP_FILE];
const MAX_FILES = 300;
const MAX_FILE_BYTES = 1_100_000;
const MAX_BYTES = 16_000_000;

type KitSources = {
  readonly top: string;
  /** A folder of the user's own. */
  readonly prompts?: string | undefined;
  /** Files below `top` that are agents. */
  readonly programs?: readonly string[];
  /** The part of a file that the user agreed to; undefined if none. */
  readonly admit?: (name: string, text: string) => string | undefined;
};

export async function readKitFiles({
  top,
  prompts,
  programs = [],
  admit = (_, text) => text,
}: KitSources): Promise<RunKit["files"]> {
  const sources: readonly { readonly from: string; readonly as: string; readonly isProgram?: true }[] = [
    ...programs.map((name) => ({ from: path.join(top, name), as: name, isProgram: true as const })),
    ...FILES.map((name) => ({ from: path.join(top, name), as: name })),
    ...(await Promise.all(FOLDERS.map((folder) => inFolder(path.join(top, folder), folder)))).flat(),
    ...(prompts === undefined ? [] : await inFolder(prompts, KIT_PROMPTS)),
  ];
  const files: KitFile[] = [];
  let bytes = 0;
  for (const { from, as, isProgram } of sources.slice(0, MAX_FILES)) {
    const read = await readText(from, MAX_FILE_BYTES);
    // As on one machine, unreadable files are left out, and `doctor` reports them.
    if (!read || "problem" in read) continue;
    const admitted = isProgram ? read.text : admit(as, read.text);
    if (admitted === undefined) continue;
    const text = as === MCP_FILE ? withoutValues(admitted) : admitted;
    bytes += text.length;
    if (bytes > MAX_BYTES) break;
    files.push({ path: as, text, ...(isProgram && { isProgram }) });
  }
  return files;
}

/** Values of variables and headers are often keys, so only names of the worker's variables go to the database. */
function withoutValues(json: string): string {
  const servers = Object.entries(fields(fields(parseJson(json))["mcpServers"])).map(([name, entry]) => {
    const server = { ...fields(entry) };
    for (const key of ["env", "headers"]) {
      const named = Object.entries(fields(server[key])).filter(([, value]) => VARIABLE.test(String(value)));
      if (server[key] !== undefined) server[key] = Object.fromEntries(named);
    }
    return [name, server];
  });
  return JSON.stringify({ mcpServers: Object.fromEntries(servers) });
}

/** "${KEY}" or "Bearer ${KEY}", without a default, which may be a key itself. */
const VARIABLE = /^(?:Bearer )?\$\{\w+\}$/;

async function inFolder(folder: string, as: string) {
  const names = await readdir(folder).catch(() => []); // The folder does not exist.
  return names.sort().map((name) => ({ from: path.join(folder, name), as: `${as}/${name}` }));
}

/** Reads the kit, for a worker that has a job of the run. */
export async function readKit(
  files: { read(permit: string, name: string): Promise<Uint8Array | Failed> },
  permit: string,
): Promise<RunKit | Failed> {
  const read = await files.read(permit, KIT_FILE);
  if (hasFailed(read)) return read;
  const kit = parseJson(Buffer.from(read).toString()) as RunKit | undefined;
  return kit ?? failedWith("repository", "what workers need of this run is not in the database");
}

/** Unpacks the kit like a checkout of the user. The coordinator made its paths; none may lead out of the folder. */
export async function unpackKit({ files }: RunKit, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const { path: name, text, isProgram } of files) {
    const file = path.join(folder, name);
    if (!file.startsWith(`${folder}${path.sep}`)) continue;
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, text, { mode: isProgram ? 0o700 : 0o600 });
  }
}
