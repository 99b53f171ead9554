/** Decides what a repository's files may ask for in a program's runs: what a person or the program agreed to. */
import { standingOf, type TrustStanding } from "../../app/trust/standing.ts";
import { openProject } from "../../compose/project.ts";
import { trustParts } from "../../compose/roles.ts";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { Environment, Project } from "../../ports/project.ts";
import { AGREES_TO_ALL, agreesTo, askId, OWN_PROMPTS, type TrustAsk } from "../../ports/trust.ts";
import type { OrchestratorOptions } from "./types.ts";

type Trust = OrchestratorOptions["trust"];

/** Opens a repository; if its own git settings ask for something, only after an agreement. */
export async function openTrusted(
  folder: string,
  env: Environment,
  trust: Trust,
  signal: AbortSignal,
): Promise<Project | Failed> {
  const also = trust === true ? AGREES_TO_ALL : undefined;
  const opened = await openProject(folder, env, signal, also);
  if (!("untrusted" in opened) || typeof trust !== "string") return opened;
  const standing = await standingIn(folder, env, signal);
  if (hasFailed(standing)) return standing;
  return standing.hash === trust
    ? openProject(folder, env, signal, agreesTo(standing.asks.map(askId)))
    : refusal(standing.unagreed, standing.hash);
}

/** The ids of agreements for a run's record; a failure names what is not agreed to. */
export async function agreedFor(
  { located }: Pick<Project, "located">,
  env: Environment,
  trust: Trust,
  signal: AbortSignal,
): Promise<readonly string[] | Failed> {
  const standing = await standingIn(located.top, env, signal);
  if (hasFailed(standing)) return standing;
  const { asks, unagreed, hash } = standing;
  const ids = [...asks, OWN_PROMPTS].map(askId);
  return unagreed.length === 0 || trust === true || trust === hash ? ids : refusal(unagreed, hash);
}

/** Only of the files: what the program configures in code is its own. */
async function standingIn(
  folder: string,
  env: Environment,
  signal: AbortSignal,
): Promise<TrustStanding | Failed> {
  const parts = trustParts(env);
  const opened = await parts.open(folder, signal);
  return hasFailed(opened) ? opened : standingOf(opened, { asks: [] }, [], parts);
}

const refusal = (asks: readonly TrustAsk[], hash: string): Failed =>
  failedWith(
    "policy",
    `files of the repository ask for what nobody has agreed to: ${asks.map(({ from, words }) => `${from}: ${words}`).join("; ")}`,
    `skein trust, or createOrchestrator({ trust: "${hash}" })`,
  );
