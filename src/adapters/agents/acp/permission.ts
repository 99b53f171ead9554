/** What is answered when an agent asks whether it may do something? At once, by policy: there is nobody to ask. */
import { isRefused } from "../tools/inside.ts";
import { type Reach, readable } from "../tools/reach.ts";
import { type Fields, fields, list, text } from "./loose.ts";

/**
 * "deny-outside": a path outside of the workspace in what it asks for is refused, but for its output file, and what it
 * reads in the scratchpad. A permission is no sandbox.
 */
export type Permissions = "allow" | "deny-outside";

export type PermissionPolicy = Pick<Reach, "root" | "pad"> & {
  readonly permissions: Permissions;
  /** A planner's: nothing that could change anything is allowed, but for an output file. */
  readonly readsOnly: boolean;
};

export type Permitted = { readonly isAllowed: boolean; readonly what: string; readonly outcome: Fields };

/** `params`: of `session/request_permission`, of either version. */
export async function permit(params: unknown, policy: PermissionPolicy): Promise<Permitted> {
  const asked = fields(params);
  const subject = fields(asked["subject"]);
  const call = fields(asked["toolCall"] ?? subject["toolCall"]);
  const kind = subject["type"] === "command" ? "execute" : text(call["kind"]);
  const what = text(call["title"]) || text(asked["title"]) || kind || "something";
  const places = [...pathsIn(call), ...pathsIn(subject)];
  const isFit = policy.readsOnly
    ? HARMLESS.has(kind)
      ? await areWithin(places, policy, "read")
      : kind === "edit" && places.length > 0 && (await areWithin(places, policy, "output"))
    : policy.permissions === "allow" ||
      (await areWithin(places, policy, HARMLESS.has(kind) ? "read" : "change"));
  const wanted = isFit ? optionOf(asked, allowing(policy)) : undefined;
  if (wanted !== undefined) return { isAllowed: true, what, outcome: selected(wanted) };
  const refusal = optionOf(asked, ["reject_once", "reject_always"]);
  return { isAllowed: false, what, outcome: refusal === undefined ? CANCELLED : selected(refusal) };
}

/** What a planner does: it looks. A command may do anything, and so may a kind that is not named. */
const HARMLESS: ReadonlySet<string> = new Set(["read", "search", "think"]);

export const CANCELLED: Fields = { outcome: "cancelled" };

const selected = (optionId: string): Fields => ({ outcome: "selected", optionId });

/** "Always" would hold for what lies outside as well, and some agents write it into the user's settings. */
const allowing = ({ permissions, readsOnly }: PermissionPolicy): readonly string[] =>
  permissions === "allow" && !readsOnly ? ["allow_once", "allow_always"] : ["allow_once"];

function optionOf(asked: Fields, kinds: readonly string[]): string | undefined {
  const options = list(asked["options"]).map(fields);
  for (const kind of kinds) {
    const ids = options.filter((option) => option["kind"] === kind).map((option) => option["optionId"]);
    // A name that stands for two answers says nothing.
    const clear = ids.find(
      (id) => typeof id === "string" && options.filter((o) => o["optionId"] === id).length === 1,
    );
    if (typeof clear === "string") return clear;
  }
  return undefined;
}

/** `change`: in the workspace, or the output file. `output`: that file alone. */
async function areWithin(
  paths: readonly string[],
  policy: PermissionPolicy,
  use: "read" | "change" | "output",
): Promise<boolean> {
  if (paths.length > MAX_PATHS) return false;
  for (const path of paths) {
    const found = await readable(policy, path);
    if (isRefused(found)) return false;
    const isOutput = found.file.path === policy.pad?.output;
    const isAround = found.root !== policy.pad?.root;
    if (use !== "read" && !isOutput && (use === "output" || !isAround)) return false;
  }
  return true;
}

/** More than any tool touches; each is looked at. */
const MAX_PATHS = 1_000;

/** Where it says that it goes: places, changes, and what looks like a path in the tool's own input. */
function pathsIn(call: Fields): readonly string[] {
  const places = [...list(call["locations"]), ...list(call["content"])].map((one) =>
    text(fields(one)["path"]),
  );
  const given = [...inputPaths(call["rawInput"], 0), ...inputPaths({ cwd: call["cwd"] }, 0)];
  return [...places, ...given].filter((path) => path !== "").map(asPath);
}

function inputPaths(input: unknown, depth: number): readonly string[] {
  if (depth > MAX_DEPTH) return [];
  return Object.entries(fields(input)).flatMap(([name, value]) => {
    if (!PATH_NAME.test(name))
      return Array.isArray(value)
        ? value.flatMap((one) => inputPaths(one, depth + 1))
        : inputPaths(value, depth + 1);
    return [value, ...list(value)].flatMap((one) =>
      typeof one === "string" ? [one] : inputPaths(one, depth + 1),
    );
  });
}

const MAX_DEPTH = 4;
const PATH_NAME = /(?:path|file|dir|directory|directories|folder|cwd)s?(?:_?name)?$/i;

/** "~" is the user's home, which is outside of every workspace. */
const asPath = (path: string): string => {
  if (path.startsWith("file://"))
    return decodeURIComponent(path.slice("file://".length).replace(/%(?![0-9a-f]{2})/gi, "%25"));
  return path === "~" || path.startsWith("~/") ? `/~${path.slice(1)}` : path;
};
