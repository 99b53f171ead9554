/** Resumes a run that was stopped, paused or killed, after checking that it may go on. */

import type { ReadConfig } from "../config/read.ts";
import type { Config } from "../config/schema.ts";
import { fromSettings, toSettings } from "../config/settings.ts";
import { hasFailed } from "../core/result.ts";
import { undeliverable } from "./deliverable.ts";
import { type FollowParts, followRun, type LiveRun, type RunListeners, tidyRun } from "./follow-run.ts";
import type { GivenAgents, Parts } from "./parts.ts";
import { type AgentsParts, readyAgents } from "./ready-agents.ts";
import type { Refused } from "./refused.ts";
import { type SeenRun, underWay } from "./see-run.ts";

export type ResumeRequest = RunListeners &
  SeenRun & {
    /** Applies today's options to the recorded settings. */
    readonly reconfigure: (settings: unknown) => Config | Refused;
    /** Reads today's configuration file; called if the run's set-up had failed. */
    readonly configNow?: () => Promise<ReadConfig | Refused>;
    readonly agents?: GivenAgents;
    readonly intoCheckout?: boolean;
    /** Called right before the run goes on, with what differs from before. */
    readonly onReady?: (ready: ResumeReady) => void;
  };

/** `fixed`: settings that were taken from today's configuration file. */
type ResumeReady = {
  readonly config: Config;
  readonly fixed: readonly string[];
  readonly notices: readonly string[];
};

export type RunResumed = (LiveRun & { readonly is: "live"; readonly config: Config }) | NotResumed;

type NotResumed =
  /** The run is over. `config`: as recorded, if it can be read. */
  | { readonly is: "closed"; readonly config?: Config }
  /** Another process drives the run, and it is paused: that process can be told to go on. */
  | { readonly is: "paused" };

type ResumeParts = FollowParts & AgentsParts & Pick<Parts, "git">;

export async function resumeRun(
  request: ResumeRequest,
  parts: ResumeParts,
  signal: AbortSignal,
): Promise<RunResumed | Refused> {
  const ready = await prepareResume(request, parts, signal);
  if (hasFailed(ready) || ready.is !== "ready") return ready;
  const { config } = ready;
  const live = await followRun({ ...request, config, fold: request.seen }, parts, signal);
  return hasFailed(live) ? live : { ...live, is: "live", config };
}

/** Checks everything that could keep the run from going on; `followRun` starts it. */
export async function prepareResume(
  request: ResumeRequest,
  parts: ResumeParts,
  signal: AbortSignal,
): Promise<{ readonly is: "ready"; readonly config: Config } | NotResumed | Refused> {
  const { home, seen, onReady } = request;
  const { run, baseBranch } = home.record;
  if (seen.state.closed) return closed(request, parts, signal);
  const owner = await home.owner();
  if (owner) return seen.state.paused ? { is: "paused" } : underWay(run, owner);
  const fixed = await fixedSetup(request);
  if (hasFailed(fixed)) return fixed;
  const wanted = request.reconfigure(fixed.settings);
  if (hasFailed(wanted)) return wanted;
  const { agents: given, intoCheckout = false } = request;
  const ready = await readyAgents({ config: wanted, ...(given && { given }) }, parts);
  if (hasFailed(ready)) return ready;
  const { config, notices } = ready;
  const why = await undeliverable({ config, intoCheckout, ...(baseBranch && { baseBranch }) }, parts);
  if (why) return why;
  onReady?.({ config, fixed: fixed.taken, notices });
  return { is: "ready", config };
}

/** An engine that was killed right at the end may have left workspaces. */
async function closed(
  { home, seen }: ResumeRequest,
  parts: ResumeParts,
  signal: AbortSignal,
): Promise<NotResumed> {
  const recorded = fromSettings(home.record.settings);
  if ("problems" in recorded) return { is: "closed" };
  const { config } = recorded;
  await tidyRun({ home, config, state: seen.state }, parts, signal).catch(() => {}); // What is left stays for the next time.
  return { is: "closed", config };
}

type FixedSetup = { readonly settings: unknown; readonly taken: readonly string[] };

/**
 * A run that stopped because of its set-up takes the settings that were fixed in the file since; all others stay as
 * recorded.
 */
async function fixedSetup({ home, seen, configNow }: ResumeRequest): Promise<FixedSetup | Refused> {
  const { settings } = home.record;
  if (!seen.state.setup.hasFailed || !configNow) return { settings, taken: [] };
  const read = await configNow();
  if (hasFailed(read)) return read;
  const now = toSettings(read.config);
  const fixed = structuredClone(settings);
  const taken: string[] = [];
  for (const [key, origin] of Object.entries(read.origins)) {
    const value = valueAt(now, key);
    if (origin === "default" || !isSetups(key) || isSame(value, valueAt(fixed, key))) continue;
    put(fixed, key, value);
    taken.push(`${key} is taken from ${origin}`);
  }
  return { settings: fixed, taken };
}

/** Settings that decide whether workspaces and the gate can be set up. */
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
