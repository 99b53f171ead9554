/** `skein doctor --gate`: runs the gate and its probe once, in a fresh workspace of the base. */
import path from "node:path";
import { openProject, tryGate } from "../../../compose.ts";
import { hasFailed } from "../../../core/result.ts";
import { stopOnSignal } from "../acts/signals.ts";
import type { DoctorOptions } from "../commands/options.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { short } from "../words.ts";
import { type DoctorFacts, warn } from "./facts.ts";
import { NAME, type Trial, trialFrom } from "./gate-findings.ts";

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
