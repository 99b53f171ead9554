/** Answers an agent's permission requests at once, by policy, because no person is there to ask. */

import { fields, type LooseFields } from "../../../text/json.ts";
import { isRefused, readable, type ToolReach } from "../tools/reach.ts";
import { list, text } from "./loose.ts";

/**
 * "deny-outside" refuses requests that name a path outside of the workspace, except for the output file and for
 * reading in the scratchpad. It is no sandbox: the agent can act without asking.
 */
export type Permissions = "allow" | "deny-outside";

type PermissionPolicy = Pick<ToolReach, "root" | "pad"> & {
  readonly permissions: Permissions;
  /** For planners: allows nothing that could change anything except the output file. */
  readonly readsOnly: boolean;
};

type Permitted = { readonly isAllowed: boolean; readonly what: string; readonly outcome: LooseFields };

/** `params`: those of a `session/request_permission` request. */
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

/** The kinds of tools that a planner may use. A command, or a call without a kind, could do anything. */
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

/** `change`: the paths are in the workspace or are the output file. `output`: only the output file. */
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

/** More paths than any tool touches; each one is checked on disk. */
const MAX_PATHS = 1_000;

/** The paths in the call's locations and changes, and values of its input that look like paths. */
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

/** "~" is the user's home, which is outside of every workspace. */
const asPath = (path: string): string => {
  if (path.startsWith("file://"))
    return decodeURIComponent(path.slice("file://".length).replace(/%(?![0-9a-f]{2})/gi, "%25"));
  return path === "~" || path.startsWith("~/") ? `/~${path.slice(1)}` : path;
};
