/** How many agents is a plan made for? By flag, by configuration, by the environment; else the published number. */
import { lstatSync } from "node:fs";
import path from "node:path";
import { type Context, refuse, usage } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import type { PlanOptions } from "../verbs/options.ts";
import type { Exit } from "./project.ts";

/** More agents than anybody runs at once: beyond it somebody has slipped. */
const MAX_CONCURRENT = 1_000;

/** The first that is set counts. */
const VARIABLES = ["SKEIN_WORKERS", "MAX_WORKERS", "CLAUDE_MAX_CONCURRENT"];

export async function maxConcurrentOf(
  context: Context,
  options: Pick<PlanOptions, "maxConcurrent" | "config" | "set">,
  { top, usual }: { readonly top: string | undefined; readonly usual: number },
): Promise<number | Exit> {
  const said = options.maxConcurrent;
  if (said !== undefined)
    return wholeIn(said) ?? { exit: usage(context, wrong("--max-concurrent", said), "--max-concurrent 8") };
  const configured = await configuredWorkers(context, options, top);
  if (configured !== undefined) return configured;
  const name = VARIABLES.find((variable) => context.env[variable]);
  if (name === undefined) return usual;
  const value = context.env[name]!;
  const message = wrong(name, value);
  return (
    wholeIn(value) ?? {
      exit: refuse(context, EXIT.configuration, {
        kind: "configuration",
        message,
        next: "set it to a number, or unset it",
      }),
    }
  );
}

const wrong = (name: string, value: string) =>
  `${name} must be a whole number from 1 to ${MAX_CONCURRENT}, not ${JSON.stringify(value.slice(0, 40))}`;

function wholeIn(text: string): number | undefined {
  const number = /^\d{1,9}$/.test(text.trim()) ? Number(text) : 0;
  return number >= 1 && number <= MAX_CONCURRENT ? number : undefined;
}

/** The configuration takes long to load, so only where there is one. */
async function configuredWorkers(
  context: Context,
  given: Pick<PlanOptions, "config" | "set">,
  top: string | undefined,
): Promise<number | Exit | undefined> {
  const isThere = (name: string) =>
    top !== undefined && lstatSync(path.join(top, name), { throwIfNoEntry: false }) !== undefined;
  const isSaid = given.config !== undefined || given.set !== undefined;
  if (!isSaid && !isThere("skein.yaml") && !isThere("skein.yml")) return undefined;
  const { readHere } = await import("./configuration.ts");
  const located =
    top === undefined ? undefined : { top, gitDir: path.join(top, ".git"), head: "", notices: [] };
  const read = await readHere(context, located, given);
  if ("message" in read) return { exit: refuse(context, EXIT.configuration, read) };
  return read.origins["workers"] === "default" ? undefined : read.config.workers;
}
