/** `skein doctor --gate`: runs the gate and its probe once, in a fresh workspace of the base. */
import path from "node:path";
import type { DoctorFacts, DoctorFinding } from "../../../app/inspect/facts.ts";
import { type Trial, toTry, trialFrom } from "../../../app/inspect/trial.ts";
import { tryGate } from "../../../app/try-gate.ts";
import { partsOf } from "../../../compose/parts.ts";
import { openProject } from "../../../compose/project.ts";
import { hasFailed } from "../../../core/result.ts";
import { short } from "../../../text/words.ts";
import { stopOnSignal } from "../acts/signals.ts";
import type { DoctorOptions } from "../commands/options.ts";
import type { Context } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";

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

const CODES = {
  passed: EXIT.done,
  failed: EXIT.notAllDone,
  unusable: EXIT.configuration,
  stopped: EXIT.interrupted,
} as const;

export async function trialOf(
  context: Context,
  { repo = "." }: DoctorOptions,
  facts: DoctorFacts,
  onStart: (text: string) => void,
): Promise<{ readonly findings: readonly DoctorFinding[]; readonly exit: ExitCode }> {
  const wanted = toTry(facts);
  const { is, findings } = wanted.is === "gate" ? await run(wanted) : wanted;
  return { findings, exit: CODES[is] };

  async function run({ found, ...request }: typeof wanted & { readonly is: "gate" }): Promise<Trial> {
    using stop = stopOnSignal();
    const project = await openProject(path.resolve(context.folder, repo), context.env, stop.signal);
    if (hasFailed(project)) return trialFrom(project);
    onStart(`Running the gate in a fresh workspace of ${short(request.commit)} (${found}) …`);
    return trialFrom(await tryGate(request, partsOf(project, context.env), stop.signal));
  }
}
