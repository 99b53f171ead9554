/** Describes a trial of the gate: findings for people, and whether a run could rely on the gate. */
import type { Config } from "../../config/schema.ts";
import { baseLookLines } from "../../core/base-look-words.ts";
import { isGreen } from "../../core/gate.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import { unattended } from "../../core/rules/red-base.ts";
import { plural } from "../../text/words.ts";
import type { BaseLooked } from "../look-at-base.ts";
import { bad, type DoctorFacts, type DoctorFinding, ok, warn } from "./facts.ts";

export type Trial = {
  /** `unusable`: it cannot run, or tests nothing. */
  readonly is: "passed" | "failed" | "unusable" | "stopped";
  readonly findings: readonly DoctorFinding[];
};

/** What to try, or why nothing is tried. */
export function toTry({ gate, base, configuration }: DoctorFacts): ToTry | Trial {
  if (gate === undefined || hasFailed(gate) || typeof base !== "string" || !("config" in configuration))
    return { is: "failed", findings: [warn(NAME, "not run: fix what is listed above first")] };
  if (gate.commands.length === 0)
    return { is: "passed", findings: [warn(NAME, "not run: there is no gate")] };
  return { is: "gate", config: configuration.config, commit: base, found: gate.found };
}

type ToTry = {
  readonly is: "gate";
  readonly config: Config;
  readonly commit: string;
  readonly found: string;
};

const NAME = "gate, run";

/** `onRedBase`: as configured. `doing`: the last step that was begun. */
export function trialFrom(
  tried: BaseLooked | Failed,
  onRedBase?: Config["onRedBase"],
  doing?: string,
): Trial {
  if (hasFailed(tried)) {
    const { kind, message, next } = tried.failure;
    const while_ = doing === undefined ? "" : ` while ${doing}`;
    return kind === "cancelled"
      ? { is: "stopped", findings: [warn(NAME, `stopped${while_}; its workspace was removed`)] }
      : { is: "unusable", findings: [bad(NAME, message, next)] };
  }
  const { run, tookMs, probed, look } = tried;
  if (run.setup) return { is: "unusable", findings: [bad(NAME, run.setup.message, run.setup.next)] };
  const took = `${(tookMs / 1_000).toFixed(1)} s`;
  if (look || !isGreen(run.report)) {
    const text = [`fails after ${took}`, ...(look ? baseLookLines(look) : [])].join("\n");
    return { is: "failed", findings: [whatFollows(text, look, onRedBase)] };
  }
  const idle = run.report.commands.filter(({ nothingYet }) => nothingYet).map(({ name }) => name);
  const gated =
    idle.length === 0
      ? ok(NAME, `passes after ${took}: ${plural(run.report.commands.length, "command")}`)
      : warn(NAME, `passes after ${took}, but has nothing to run yet: ${idle.join(", ")}`);
  if (probed?.is === "unproven") {
    const { message, next } = probed.failure;
    return { is: "unusable", findings: [gated, bad("probe", message, next)] };
  }
  const probe =
    probed?.is === "proved"
      ? ok("probe", "the gate fails without your sources, as it should")
      : warn("probe", `not probed: ${probed?.why ?? "not requested"}`);
  return { is: "passed", findings: [gated, probe] };
}

/** Follows the same rule as a run, so it never says that a run could start which would stop at once. */
function whatFollows(text: string, look: BaseLooked["look"], onRedBase: Config["onRedBase"]): DoctorFinding {
  const unasked = look ? unattended(look) : "repair";
  const choice = onRedBase ?? unasked;
  const asks = onRedBase === undefined ? "on a terminal a run asks you what to do; elsewhere " : "";
  if (choice === "stop")
    return bad(
      NAME,
      `${text}\n${asks}a run would stop here: nothing is started`,
      "repair the base and commit; or name another gate; or --set onRedBase=repair, or continue",
    );
  const follows = {
    ask: "a run would ask you: repair, continue or stop",
    repair: `${asks}a run would start with tasks that repair it`,
    continue:
      "agents would work beside it: what makes nothing worse lands, and a failing target is not delivered",
  };
  return warn(NAME, text, follows[choice]);
}
