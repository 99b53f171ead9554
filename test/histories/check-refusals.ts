/** Finds innocent attempts that were refused: merges every refused attempt again, alone, and judges the tree. */
import type { Event, EventOf } from "../../src/core/log/event.ts";
import type { TaskId } from "../../src/core/task.ts";
import type { Facts } from "./facts.ts";
import { OUTAGE } from "./gate.ts";
import { filesOf, mergeOf } from "./git-facts.ts";
import { plainName, wrongWith } from "./tree.ts";

type Refusal = {
  readonly task: TaskId;
  readonly attempt: number;
  readonly why: "conflict" | "gate-red";
  readonly commit: string;
  /** The target when the task's last candidate was made; for a candidate that was made ahead, when it was judged. */
  readonly onto: string;
  readonly key: string;
  readonly repairs: readonly string[] | undefined;
};

export async function refusalsOf(facts: Facts) {
  const all = listed(facts);
  const problems: string[] = [];
  for (const refusal of all) problems.push(...(await problemOf(facts, refusal)));
  return { problems, times: (task: TaskId) => all.filter((one) => one.task === task).length };
}

function listed({ played, place }: Facts): readonly Refusal[] {
  const specs = new Map<TaskId, { readonly key: string; readonly repairs?: readonly string[] }>();
  const attempts = new Map<TaskId, number>();
  const found: Refusal[] = [];
  let tip = place.base;
  const onto = new Map<TaskId, string | undefined>();
  for (const event of played.events) {
    if (event.type === "plan.accepted" || event.type === "repair.planned") {
      for (const { id, spec } of event.into) specs.set(id, spec);
    }
    if (event.type === "task.handed-off") attempts.set(event.task, event.attempt);
    if (event.type === "job.started" && event.job.kind === "land")
      for (const { task } of event.job.members) onto.set(task, event.job.on ? undefined : tip);
    if (event.type === "batch.landed") tip = event.commit;
    if (event.type === "target.moved") tip = event.tip;
    if (!isRefusal(event)) continue;
    const { key, repairs } = specs.get(event.task)!;
    found.push({
      task: event.task,
      attempt: attempts.get(event.task)!,
      why: event.failure.kind,
      commit: event.handoff!.commit!,
      onto: onto.get(event.task) ?? tip,
      key,
      repairs: repairs?.map(plainName),
    });
  }
  return found;
}

type Refused = EventOf<"task.retried" | "task.failed"> & {
  readonly failure: { readonly kind: Refusal["why"] };
};

const isRefusal = (event: Event): event is Refused =>
  (event.type === "task.retried" || event.type === "task.failed") &&
  (event.failure.kind === "conflict" || event.failure.kind === "gate-red");

async function problemOf(facts: Facts, refusal: Refusal): Promise<readonly string[]> {
  const { place, truth, history } = facts;
  const { onto, commit, why, key, attempt, repairs } = refusal;
  const said = `attempt ${attempt} of ${key} was refused on ${onto.slice(0, 8)}`;
  const tree = await mergeOf(place, onto, commit);
  if (why === "conflict") {
    history.tally.add("refused for a conflict");
    return tree === undefined ? [] : [`${said} for a conflict, and there is none`];
  }
  history.tally.add("refused for a red gate");
  if (tree === undefined) return [`${said} for a red gate, and it conflicts`];
  const planted = history.tasks.find((task) => task.key === key);
  if (planted && planted.makes.is !== "bad")
    history.tally.add("refused for a failure that came with another task");
  const before = truth(onto);
  const after = new Set(wrongWith((await filesOf(place, [tree])).get(tree)!).keys());
  return isFine(before, after, repairs) ? [`${said} for a red gate, and is innocent`] : [];
}

/** An attempt is fine if nothing new fails, and something of what it was made to mend, if it is there, is gone. */
function isFine(
  before: ReadonlySet<string>,
  after: ReadonlySet<string>,
  repairs: readonly string[] = [],
): boolean {
  if (repairs.includes(OUTAGE)) return false; // An outage is not in the tree, so no change mends it.
  if ([...after].some((name) => !before.has(name))) return false;
  const there = repairs.filter((name) => before.has(name));
  return there.length === 0 || there.some((name) => !after.has(name));
}
