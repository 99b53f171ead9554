/** Checks that everything the repository asks for is agreed to; else asks the person at the terminal, or refuses. */
import path from "node:path";
import type { Misconfigured } from "../../app/inspect/facts.ts";
import { standingOf, type TrustStanding } from "../../app/trust/standing.ts";
import { isInsideJob, trustParts } from "../../compose/roles.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import { type Agrees, agreesTo, askId, type TrustAsk, type Untrusted } from "../../ports/trust.ts";
import { harmless, plural } from "../../text/words.ts";
import { onPage } from "./columns.ts";
import type { TrustOptions } from "./config-file.ts";
import { type Context, refuse } from "./context.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";

export type Trusted = Untrusted & { readonly standing: TrustStanding };

/** Everything that the repository around a folder asks for. */
export async function standingHere(
  context: Context,
  folder: string,
  options: TrustOptions,
): Promise<Trusted | Failed> {
  const parts = trustParts(context.env);
  const opened = await parts.open(folder, AbortSignal.timeout(MAX_LOOK_MS));
  if (hasFailed(opened)) return opened;
  const { settingsAsked } = await import("./config-file.ts");
  const settings = await settingsAsked(context, opened, options);
  const standing = await standingOf(opened, settings, options.planAsks ?? [], parts);
  return hasFailed(standing) ? standing : { ...opened, standing };
}

const MAX_LOOK_MS = 30_000;

/** With `--trust`: an agreement for this command alone, valid only for exactly the current set. */
export function agreedBy(
  { env }: Context,
  { hash, asks }: TrustStanding,
  said: string,
): Agrees | Misconfigured {
  if (isInsideJob(env)) return { kind: "configuration", ...INSIDE };
  if (said.trim().toLowerCase() === hash) return agreesTo(asks.map(askId));
  return {
    kind: "configuration",
    message: `--trust names another set than the one that this repository asks for, which is ${hash}`,
    lines: asks.map(lineOf),
    next: `read it, and if you agree: --trust ${hash}`,
  };
}

export const INSIDE = {
  message: "a job of Skein cannot agree to what a repository asks for",
  next: "call it yourself, in a terminal of your own: skein trust",
};

/** Undefined if a person has agreed to all of it; the agreement is stored. */
export async function askOrRefuse(
  context: Context,
  folder: string,
  options: TrustOptions,
): Promise<ExitCode | undefined> {
  const here = await standingHere(context, folder, options);
  if (hasFailed(here)) return refuse(context, EXIT.configuration, here.failure);
  const { standing } = here;
  if (standing.unagreed.length === 0) return undefined;
  if (!mayAsk(context)) return refuse(context, EXIT.configuration, untrusted(context, here));
  const agreed = await askPerson(context, here);
  return agreed
    ? keep(context, here, "terminal")
    : refuse(context, EXIT.configuration, untrusted(context, here));
}

/** True if a person is at a terminal of their own and can see the question. */
export const mayAsk = (context: Context): boolean =>
  !context.json && context.err.size !== undefined && !isInsideJob(context.env) && context.input().isTerminal;

/** A refusal that lists what the repository asks for, and what to type. */
export function untrusted({ command }: Context, { project, standing }: Trusted): Misconfigured {
  const { hash, unagreed } = standing;
  return {
    kind: "configuration",
    message: `files of ${project.located.top} ask for ${plural(unagreed.length, "thing")} that nobody has agreed to`,
    lines: unagreed.map(lineOf),
    next: `read it, then agree once: ${command} trust; where nobody can be asked: --trust ${hash}`,
  };
}

export const lineOf = ({ from, name, words, is }: TrustAsk): string =>
  is === "setting" ? `${from}: ${name}: ${words}` : `${from}: ${words}`;

export async function askPerson(context: Context, { project, standing }: Trusted): Promise<boolean> {
  const { err } = context;
  const { asks, unagreed } = standing;
  const known = asks.length - unagreed.length;
  const besides = known === 0 ? "" : ` besides ${plural(known, "thing")} that you agreed to before`;
  const top = harmless(path.basename(project.located.top));
  err.write(`${onPage(err, `Files of ${top} ask for${besides}:`, "")}\n`);
  for (const ask of unagreed)
    err.write(`${onPage(err, `  ${harmless(lineOf(ask), MAX_LINE_CHARS)}`, "    ")}\n`);
  err.write("Agree to this for this repository, now and later? [y/N] ");
  const typing = context.input();
  const line = await typing.line();
  if (line === undefined) err.write("\n");
  await typing.close();
  return /^y(?:es)?$/i.test((line ?? "").trim());
}

const MAX_LINE_CHARS = 2_000;

export async function keep(
  context: Context,
  { store, standing }: Trusted,
  by: string,
): Promise<ExitCode | undefined> {
  const failed = await store.agree(standing.unagreed, by);
  return failed && refuse(context, EXIT.configuration, failed.failure);
}

/** Stores an agreement to what a person let Skein write, as `by` says, exactly as written. */
export async function agreeToWritten(
  context: Context,
  folder: string,
  asks: readonly TrustAsk[],
  by: string,
): Promise<ExitCode | undefined> {
  if (asks.length === 0 || isInsideJob(context.env)) return undefined; // A job stores none: the person is asked later.
  const opened = await trustParts(context.env).open(folder, AbortSignal.timeout(MAX_LOOK_MS));
  if (hasFailed(opened)) return undefined; // Outside a repository nothing asks for agreement.
  const failed = await opened.store.agree(asks, by);
  return failed && refuse(context, EXIT.configuration, failed.failure);
}
