/** What has a person mended in skein.yaml since a run stood still for its set-up? Of the rest, the run keeps what it had. */
import type { Project } from "../../../compose/project.ts";
import { toSettings } from "../../../config/index.ts";
import { type Context, refuse } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { readHere } from "./configuration.ts";
import type { Exit } from "./project.ts";

/** `notices`: what is taken from the file. */
export type Mended = { readonly settings: unknown; readonly notices: readonly string[] };

export async function mendedSetup(
  context: Context,
  { located }: Project,
  settings: unknown,
): Promise<Mended | Exit> {
  const read = await readHere({ ...context, env: {} }, located, {});
  if ("message" in read) return { exit: refuse(context, EXIT.configuration, read) };
  const now = toSettings(read.config);
  const mended = structuredClone(settings);
  const notices: string[] = [];
  for (const [key, origin] of Object.entries(read.origins)) {
    const value = valueAt(now, key);
    if (origin === "default" || !isSetups(key) || isSame(value, valueAt(mended, key))) continue;
    put(mended, key, value);
    notices.push(`${key} is taken from ${origin}`);
  }
  return { settings: mended, notices };
}

/** What decides whether workspaces and the gate can be made ready. */
const isSetups = (key: string): boolean => /^(?:gate|workspace\.|sandbox$|network$)/.test(key);

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

type Group = Record<string, unknown>;

const valueAt = (settings: unknown, key: string): unknown =>
  key.split(".").reduce<unknown>((group, part) => (Object(group) as Group)[part], settings);

function put(settings: unknown, key: string, value: unknown): void {
  const parts = key.split(".");
  const last = parts.pop()!;
  let group = settings as Group;
  for (const part of parts) {
    group[part] ??= {};
    group = group[part] as Group;
  }
  group[last] = value;
}
