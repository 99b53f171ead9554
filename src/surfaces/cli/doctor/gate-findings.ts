/** What does `skein doctor --gate` say of a run of the gate and its probe, and how does it exit? */
import type { GateTried } from "../../../compose.ts";
import { failuresOf, isGreen } from "../../../core/gate.ts";
import { type Failed, hasFailed } from "../../../core/result.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { plural } from "../words.ts";
import { bad, type DoctorFinding, ok, warn } from "./facts.ts";

export type Trial = { readonly findings: readonly DoctorFinding[]; readonly exit: ExitCode };

export const NAME = "gate, run";

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
