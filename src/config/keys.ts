/** Lists the keys of skein.yaml: the leaves of the schema, each with its names, found once. */
import type * as z from "zod";
import { schema } from "./schema.ts";

type Key = {
  /** With dots, as for `--set`. */
  readonly name: string;
  readonly variable: string;
  /** In words for people: "a whole number". */
  readonly type: string;
  /** As a user would write it; undefined if there is none. */
  readonly default: unknown;
  readonly about: string;
  readonly schema: z.ZodType;
};

type Described = { readonly key: string; readonly type: string; readonly default: unknown };

export const describeKeys = (): readonly (Described & {
  readonly description: string;
  readonly variable: string;
})[] =>
  [...KEYS.values()].map((key) => ({
    key: key.name,
    type: key.type,
    default: key.default,
    description: key.about,
    variable: key.variable,
  }));

/** `branchPrefix` → SKEIN_BRANCH_PREFIX, `landing.strategy` → SKEIN_LANDING_STRATEGY. */
const variableOf = (key: string): string =>
  `SKEIN_${key
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .replaceAll(".", "_")
    .toUpperCase()}`;

/** `branchPrefix` → --branch-prefix. */
export const flagOf = (key: string): string =>
  `--${key
    .replaceAll(/([a-z])([A-Z])/g, "$1-$2")
    .replaceAll(".", "-")
    .toLowerCase()}`;

type Shape = Readonly<Record<string, z.ZodType>>;
type Def = {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly shape?: Shape;
  readonly defaultValue?: unknown;
  readonly in?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly entries?: Readonly<Record<string, string>>;
};
const defOf = (type: z.ZodType): Def => type.def as unknown as Def;

function* leaves(shape: Shape, above: string): Generator<Key> {
  for (const [part, type] of Object.entries(shape)) {
    const name = above + part;
    const { innerType = type, defaultValue } = defOf(type);
    const inner = defOf(innerType);
    if (inner.type === "object") yield* leaves(inner.shape!, `${name}.`);
    else
      yield {
        name,
        variable: variableOf(name),
        type: typeText(innerType),
        default: defaultValue,
        about: type.description ?? "",
        schema: type,
      };
  }
}

function typeText(type: z.ZodType): string {
  const { type: kind, in: written, options, entries } = defOf(type);
  if (kind === "pipe" && written) return typeText(written);
  if (kind === "union") return [...new Set(options?.map(typeText))].join(" | ");
  if (kind === "enum") return Object.values(entries ?? {}).join(" | ");
  return { array: "list", int: "number", object: "group", record: "group" }[kind] ?? kind;
}

export const KEYS: ReadonlyMap<string, Key> = new Map(
  [...leaves(schema.shape, "")].map((key) => [key.name, key]),
);

export const GROUPS: ReadonlySet<string> = new Set(
  [...KEYS.keys()].filter((name) => name.includes(".")).map((name) => name.slice(0, name.lastIndexOf("."))),
);
