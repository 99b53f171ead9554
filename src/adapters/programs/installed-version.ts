/** Reads the version of the package that a program belongs to, without starting the program. */
import { realpath } from "node:fs/promises";
import { delimiter, dirname, join, resolve } from "node:path";
import { fields, parseJson } from "../../text/json.ts";
import { readBounded } from "../files/read-bounded.ts";

/** Undefined if the program belongs to no package of that name, or is missing. */
export async function installedVersion(
  program: string,
  packageName: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const folders = (environment["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const places = program.includes("/") ? [program] : folders.map((folder) => resolve(folder, program));
  for (const place of places) {
    const file = await realpath(place).catch(() => undefined);
    if (file !== undefined) return versionAbove(dirname(file), packageName);
  }
  return undefined;
}

async function versionAbove(
  folder: string,
  packageName: string,
  steps = MAX_STEPS,
): Promise<string | undefined> {
  const read = await readBounded(join(folder, "package.json"), MAX_BYTES);
  const { name, version } = fields(read.is === "bytes" ? parseJson(read.bytes.toString()) : undefined);
  if (name === packageName) return typeof version === "string" ? version.slice(0, MAX_CHARS) : undefined;
  const above = dirname(folder);
  return steps === 0 || above === folder ? undefined : versionAbove(above, packageName, steps - 1);
}

/** How many folders lie between the program and its package at most. */
const MAX_STEPS = 6;
const MAX_BYTES = 1_000_000;
const MAX_CHARS = 60;
