/**
 * Is it `skein plan` in its plainest form? Then nobody has to wait for the library that reads command lines, words help
 * and guesses at mistakes: it takes as long to load as the rules do. Whatever is not understood here is left to it.
 */
import type { PlanOptions } from "./verbs/options.ts";

export type PlainPlan = PlanOptions & { readonly request: string };

const SWITCHES: Readonly<Record<string, PlanOptions>> = {
  "--json": {}, // Of every command: the context has it.
  "--markdown": { markdown: true },
  "--mermaid": { mermaid: true },
  "--force": { force: true },
  "--ask": { ask: true },
  "--no-ask": { ask: false },
};

const VALUES: Readonly<Record<string, "out" | "maxConcurrent" | "repo" | "by">> = {
  "--by": "by",
  "--out": "out",
  "--max-concurrent": "maxConcurrent",
  "--repo": "repo",
};

export function plainPlan([verb, ...args]: readonly string[]): PlainPlan | undefined {
  if (verb !== "plan") return undefined;
  let options: PlanOptions = {};
  let request: string | undefined;
  const seen = new Set<string>();
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i]!;
    const name = Object.hasOwn(VALUES, arg) ? VALUES[arg] : undefined;
    if (name !== undefined) {
      i += 1;
      const value = args[i];
      if (value === undefined || value.startsWith("-")) return undefined;
      options = { ...options, [name]: value };
    } else if (Object.hasOwn(SWITCHES, arg)) options = { ...options, ...SWITCHES[arg] };
    else if (request === undefined && isRequest(arg)) request = arg;
    else return undefined;
    const kind = arg.replace("--no-", "--");
    if (arg.startsWith("--") && seen.has(kind)) return undefined;
    seen.add(kind);
  }
  return request === undefined ? undefined : { ...options, request };
}

/** "check" is a command of its own below `plan`. */
const isRequest = (arg: string): boolean => arg !== "" && arg !== "check" && !arg.startsWith("-");
