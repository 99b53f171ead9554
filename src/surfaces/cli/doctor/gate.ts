/** `skein doctor --gate`: runs the gate and its probe once, in a fresh workspace of the base. */
import path from "node:path";
import { type GateTried, openProject, tryGate } from "../../../compose.ts";
import { failuresOf, isGreen } from "../../../core/gate.ts";
import { type Failed, hasFailed } from "../../../core/result.ts";
import { stopOnSignal } from "../acts/signals.ts";
import type { DoctorOptions } from "../commands/options.ts";
import type { Context } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { plural, short } from "../words.ts";
import { bad, type DoctorFacts, type DoctorFinding, ok, warn } from "./facts.ts";

type Trial = { readonly findings: readonly DoctorFinding[]; readonly exit: ExitCode };

/** `--gate` without a command asks for the trial; one with a command is a setting as everywhere. */
export function trialAsked({ gate = [], ...options }: DoctorOptions): {
  readonly options: DoctorOptions;
  readonly isAsked: boolean;
} {
  const named = gate.filter((command) => command !== "");
  return {
    options: { ...options, ...(named.length > 0 && { gate: named }) },
    isAsked: named.length < gate.length,
  };
}

export async function trialOf(
  context: Context,
  { repo = "." }: DoctorOptions,
  { gate, base, configuration }: DoctorFacts,
  onStart: (text: string) => void,
): Promise<Trial> {
  if (gate === undefined || hasFailed(gate) || typeof base !== "string" || !("config" in configuration))
    return {
      findings: [warn(NAME, "not run: fix what is listed above first")],
      exit: EXIT.notAllDone,
    };
  if (gate.commands.length === 0)
    return { findings: [warn(NAME, "not run: there is no gate")], exit: EXIT.done };
  using stop = stopOnSignal();
  const project = await openProject(path.resolve(context.folder, repo), context.env, stop.signal);
  if (hasFailed(project)) return trialFrom(project);
  onStart(`Running the gate in a fresh workspace of ${short(base)} (${gate.found}) …`);
  const { config } = configuration;
  return trialFrom(await tryGate(project, { config, env: context.env, commit: base }, stop.signal));
}

const NAME = "gate, run";

/** The words and the exit code for what a trial came to. */
export function trialFrom(tried: GateTried | Failed): Trial {
  if (hasFailed(tried)) {
    const { kind, message, next } = tried.failure;
    if (kind === "cancelled")
      return { findings: [warn(NAME, "stopped; its workspace was removed")], exit: EXIT.interrupted };
    return { findings: [bad(NAME, message, next)], exit: EXIT.configuration };
  }
  const { run, tookMs, probed } = tried;
  if (run.setup)
    return { findings: [bad(NAME, run.setup.message, run.setup.next)], exit: EXIT.configuration };
  const took = `${(tookMs / 1_000).toFixed(1)} s`;
  if (!isGreen(run.report)) {
    const failed = failuresOf(run.report);
    const more = failed.length > MAX_SHOWN ? `, and ${failed.length - MAX_SHOWN} more` : "";
    const text = `fails after ${took}: ${failed.slice(0, MAX_SHOWN).join("; ")}${more}`;
    return {
      findings: [warn(NAME, text, "a run would start with tasks that repair it")],
      exit: EXIT.notAllDone,
    };
  }
  const idle = run.report.commands.filter(({ nothingYet }) => nothingYet).map(({ name }) => name);
  const gated =
    idle.length === 0
      ? ok(NAME, `passes after ${took}: ${plural(run.report.commands.length, "command")}`)
      : warn(NAME, `passes after ${took}, but has nothing to run yet: ${idle.join(", ")}`);
  if (probed?.is === "unproven") {
    const { message, next } = probed.failure;
    return { findings: [gated, bad("probe", message, next)], exit: EXIT.configuration };
  }
  const probe =
    probed?.is === "proved"
      ? ok("probe", "the gate fails without your sources, as it should")
      : warn("probe", `not probed: ${probed?.why ?? "not requested"}`);
  return { findings: [gated, probe], exit: EXIT.done };
}

const MAX_SHOWN = 5;
