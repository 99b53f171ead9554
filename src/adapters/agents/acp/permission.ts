/** Answers an agent's permission requests at once, by policy: no person is there to ask. */

import { fields, type LooseFields } from "../../../text/json.ts";
import { isRefused, readable, type ToolReach } from "../tools/reach.ts";
import { list, text } from "./loose.ts";

/**
 * "deny-outside" refuses requests that name a path outside of the workspace, except for the output file and for reading
 * in the scratchpad. A permission is no sandbox.
 */
export type Permissions = "allow" | "deny-outside";

type PermissionPolicy = Pick<ToolReach, "root" | "pad"> & {
  readonly permissions: Permissions;
  /** Of a planner: allows nothing that could change anything except the output file. */
  readonly readsOnly: boolean;
};

type Permitted = { readonly isAllowed: boolean; readonly what: string; readonly outcome: LooseFields };

/** `params`: of `session/request_permission`. */
export async function permit(params: unknown, policy: PermissionPolicy): Promise<Permitted> {
  const asked = fields(params);
  const call = fields(asked["toolCall"]);
  const kind = text(call["kind"]);
  const what = text(call["title"]) || kind || "something";
  const places = pathsIn(call);
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

/** What a planner may do. A command, or a call without a kind, may do anything. */
const HARMLESS: ReadonlySet<string> = new Set(["read", "search", "think"]);

export const CANCELLED: LooseFields = { outcome: "cancelled" };

const selected = (optionId: string): LooseFields => ({ outcome: "selected", optionId });

/** "Always" would also allow paths outside, and some agents save it in the user's settings. */
const allowing = ({ permissions, readsOnly }: PermissionPolicy): readonly string[] =>
  permissions === "allow" && !readsOnly ? ["allow_once", "allow_always"] : ["allow_once"];

function optionOf(asked: LooseFields, kinds: readonly string[]): string | undefined {
  const options = list(asked["options"]).map(fields);
  for (const kind of kinds) {
    const ids = options.filter((option) => option["kind"] === kind).map((option) => option["optionId"]);
    // An id that two options share is ambiguous.
    const clear = ids.find(
      (id) => typeof id === "string" && options.filter((o) => o["optionId"] === id).length === 1,
    );
    if (typeof clear === "string") return clear;
  }
  return undefined;
}

/** `change`: in the workspace or the output file. `output`: only that file. */
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

/** More than any tool touches; each is checked on disk. */
const MAX_PATHS = 1_000;

/** The paths of its locations and changes, and what looks like a path in the tool's own input. */
function pathsIn(call: LooseFields): readonly string[] {
  const places = [...list(call["locations"]), ...list(call["content"])].map((one) =>
    text(fields(one)["path"]),
  );
  const given = inputPaths(call["rawInput"], 0);
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

/** "~" is the user's home, outside of every workspace. */
const asPath = (path: string): string => {
  if (path.startsWith("file://"))
    return decodeURIComponent(path.slice("file://".length).replace(/%(?![0-9a-f]{2})/gi, "%25"));
  return path === "~" || path.startsWith("~/") ? `/~${path.slice(1)}` : path;
};
