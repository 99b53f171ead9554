/** What is rehearsed? A calculator in two sprints, with one accident of each common kind. */
import type { PlanBrief, WorkBrief } from "../../core/brief.ts";
import { failure } from "../../core/failure.ts";
import { jobId } from "../../core/job.ts";
import type { Policy } from "../../core/policy.ts";
import { ROOT } from "../../core/task.ts";
import { evidenceOf, handoff } from "../../simulation/scripted-team.ts";
import {
  type Fate,
  type Mischief,
  noMischief,
  type Script,
  type Worked,
} from "../../simulation/virtual-queue.ts";

const MINUTE = 60_000;

const task = (id: string, scope: readonly string[], after: readonly string[] = []) => ({
  id,
  description: `Make ${id}`,
  acceptance: `${id} is tested`,
  scope,
  after,
});

/** By planner, one list a sprint. */
const SPRINTS: Readonly<Record<string, readonly (readonly ReturnType<typeof task>[])[]>> = {
  [ROOT]: [
    [
      task("parser", ["src/parser/"]),
      task("evaluator", ["src/evaluate.ts"]),
      task("formatter", ["src/format.ts"]),
      task("errors", ["src/errors.ts"]),
    ],
    [task("command-line", ["src/main.ts"], ["parser", "evaluator"]), task("history", ["src/history.ts"])],
  ],
  "t.1": [
    [task("tokens", ["src/parser/tokens.ts"]), task("lexer", ["src/parser/lexer.ts"], ["tokens"])],
    [task("grammar", ["src/parser/grammar.ts"])],
  ],
};

export const team: Script = {
  plan: (brief) => JSON.stringify(answer(brief)),
  work,
  ms: (job) => (job.kind === "work" ? (6 + (job.task.length % 3) * 4) * MINUTE : MINUTE / 2),
};

/** A planner's scratchpad is all it remembers. */
function answer(brief: PlanBrief) {
  const sprint = Number(brief.scratchpad || 0);
  const tasks = brief.active.length > 0 ? [] : (SPRINTS[brief.task]?.[sprint] ?? []);
  return { scratchpad: String(tasks.length > 0 ? sprint + 1 : sprint), tasks, addressed: [] };
}

/** The first try at the formatter breaks a test that only the gate sees. */
function work(brief: WorkBrief): Worked {
  const { key, scope } = brief.spec;
  const breaks = key === "formatter" && brief.attempt === 1 ? ["test: prints negative numbers"] : [];
  return {
    handoff: handoff(brief.task, `made ${key}`),
    evidence: { ...evidenceOf(scope), commit: `${brief.task}.${brief.attempt}` },
    change: { files: scope, breaks, heals: [] },
  };
}

/** A worker that dies, one that strays, a planner that cannot be reached, a flaky test. */
export function accidents(policy: Policy): Mischief {
  const fates: Readonly<Record<string, (ms: number) => Fate>> = {
    "work:t.2#1": () => ({ is: "dies" }),
    "work:t.4#1": (ms) => ({
      is: "instead",
      ms,
      outcome: {
        is: "worked",
        handoff: handoff("t.4", "made errors"),
        evidence: { ...evidenceOf(["src/errors.ts", "README.md"]), commit: "stray" },
      },
    }),
    "plan:t.1#1": (ms) => ({
      is: "instead",
      ms,
      outcome: { is: "failed", failure: failure("agent-unreachable", "the model's server did not answer") },
    }),
    "work:t.6#1": () => ({ is: "honest", ms: policy.leaseMs.work + 1_000 }),
  };
  let runs = 0;
  return {
    ...noMischief,
    fate: (job, _brief, ms) => fates[jobId(job)]?.(ms) ?? { is: "honest", ms },
    flake: () => {
      runs += 1;
      return runs === FLAKY_RUN ? ["test: waits for the clock"] : [];
    },
  };
}

/** Of all gate runs, the one with the flaky test: a landing late enough to be told apart from the culprit's. */
const FLAKY_RUN = 14;
