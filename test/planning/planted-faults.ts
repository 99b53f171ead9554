/** Plants faults into good plans, each with the place at which reading or lint must find it. */
import type { ExecutionPlan } from "../../src/planning/plan.ts";
import type { Random } from "../../src/simulation/random.ts";

export type Mutable<T> = { -readonly [K in keyof T]: T[K] extends object ? Mutable<T[K]> : T[K] };
export type Planted = { readonly plan: ExecutionPlan; readonly place: string; readonly says: RegExp };
export type Fault = {
  readonly name: string;
  /** Changes the plan that it is given. */
  readonly plant: (plan: Mutable<ExecutionPlan>, random: Random) => Planted;
};

type Task = Mutable<ExecutionPlan>["tasks"][number];

const fault = (
  name: string,
  says: RegExp,
  change: (
    task: Task,
    of: { readonly plan: Mutable<ExecutionPlan>; readonly random: Random; readonly index: number },
  ) => string,
): Fault => ({
  name,
  plant: (plan, random) => {
    const index = random.below(plan.tasks.length);
    const place = change(plan.tasks[index]!, { plan, random, index });
    return {
      plan: plan as ExecutionPlan,
      place: /^(?:tasks|questions)\[/.test(place) ? place : `tasks[${index}].${place}`,
      says,
    };
  },
});

/** Adds a task that waits for no task and that no task waits for. */
function lonely(plan: Mutable<ExecutionPlan>, id: string, scope: string[]): number {
  const [first] = plan.tasks;
  const { output_file: _none, ...metadata } = {
    ...first!.metadata,
    phase_id: id,
    wave: 0,
    agent: "general-purpose",
  };
  plan.tasks.push({ ...first!, id, scope, blockedBy: [], delivers: "change", metadata });
  return plan.tasks.length - 1;
}

const BAD_PATHS = [
  "../x",
  "/etc/passwd",
  ".git/config",
  "a/../../b",
  "C:/x",
  "a\\b",
  "src/*.ts",
  "-rf",
  "",
  "a\u202eb",
];
const BAD_OUTPUTS = [
  "/etc/passwd",
  "../x.md",
  "$CLAUDE_SCRATCHPAD_DIR/a/b.md",
  "$CLAUDE_SCRATCHPAD_DIR/../x.md",
  "$HOME/x.md",
];
const BAD_COMMANDS = ["", "a\nb", "a\u0000b", "echo \u202e x", "x".repeat(10_001)];

export const FAULTS: readonly Fault[] = [
  fault("an unknown dependency", /does not exist/, ({ blockedBy }) => {
    blockedBy.push("nowhere");
    return `blockedBy[${blockedBy.length - 1}]`;
  }),
  fault("a task that waits for itself", /waits for itself/, ({ id, blockedBy }) => {
    blockedBy.unshift(id);
    return "blockedBy[0]";
  }),
  {
    name: "a cycle",
    plant: (plan) => {
      const at = lonely(plan, "one", []);
      lonely(plan, "two", []);
      plan.tasks[at]!.blockedBy.push("two");
      plan.tasks[at + 1]!.blockedBy.push("one");
      const says = /^tasks wait for each other: "(one|two)" → "(one|two)" → "\1"$/;
      // Either of the two tasks may be named first.
      return { plan: plan as ExecutionPlan, place: `tasks[${at}].blockedBy`, says };
    },
  },
  fault("a repeated id", /is the id of tasks\[\d+\], too/, ({ id }, { plan }) => {
    const at = lonely(plan, "one", []);
    plan.tasks[at]!.id = id;
    return `tasks[${at}].id`;
  }),
  fault("a path outside of the repository", /path/, ({ scope }, { random }) => {
    scope.push(random.pick(BAD_PATHS));
    return `scope[${scope.length - 1}]`;
  }),
  fault("an output file elsewhere", /scratchpad/, ({ metadata }, { random }) => {
    metadata.output_file = random.pick(BAD_OUTPUTS);
    return "metadata.output_file";
  }),
  fault("two output files of one name", /has the output file same\.md, too/, (task, { plan, index }) => {
    task.metadata.output_file = "same.md";
    task.metadata.agent = "general-purpose";
    const at = lonely(plan, "one", []);
    plan.tasks[at]!.metadata.output_file = "SAME.md".toLowerCase();
    return `tasks[${Math.max(at, index)}].metadata.output_file`;
  }),
  fault("a command of two lines", /empty|line ends|longer/, (task, { random }) => {
    task.success_criterion = random.pick(BAD_COMMANDS);
    return "success_criterion";
  }),
  fault("a file that two write", /neither waits for the other/, (_task, { plan, random }) => {
    const [one, other] = random.pick([
      ["new/x.ts", "new/x.ts"],
      ["new/", "new/x.ts"],
      ["new/a/b.ts", "new/a/"],
    ] as const);
    lonely(plan, "one", [one]);
    return `tasks[${lonely(plan, "two", ["other.ts", other])}].scope[1]`;
  }),
  fault("a task that meets one by way of others", /neither waits for the other/, (_task, { plan }) => {
    const [first, last] = [lonely(plan, "one", ["new/x.ts"]), lonely(plan, "two", ["new/x.ts"])];
    plan.tasks[last]!.blockedBy.push("one");
    const third = lonely(plan, "three", ["new/x.ts"]);
    plan.tasks[third]!.blockedBy.push(plan.tasks[first]!.id);
    return `tasks[${third}].scope[0]`;
  }),
  fault("a change for an agent that changes nothing", /changes nothing/, (_task, { plan }) => {
    const at = lonely(plan, "one", []);
    plan.tasks[at]!.metadata.agent = "Explore";
    return `tasks[${at}].metadata.agent`;
  }),
  fault("a subject that says nothing", /says nothing/, (task) => {
    task.subject = " … ";
    return "subject";
  }),
  fault("a question that blocks", /must be answered/, (_task, { plan }) => {
    plan.questions = [{ id: "q", question: "Which one?", default: "", blocking: true }];
    return "questions[0]";
  }),
];
