/** Checks that the target's history has the shape that its landing strategy promises. */
import type { Facts } from "./facts.ts";
import type { Move, Note } from "./git-facts.ts";

/** Gives the problem in words; undefined if there is none. */
export function shapeProblem(facts: Facts, move: Move, note: Note): string | undefined {
  return facts.history.policy.landing.strategy === "merge-commit"
    ? mergeProblem(facts, move, note)
    : lineProblem(facts, move, note);
}

/** Each batch is one first-parent commit; with several members it has one merge for each of them behind it. */
function mergeProblem({ parents, played }: Facts, { from, to }: Move, { members }: Note): string | undefined {
  const [first, second, ...more] = parents.get(to) ?? [];
  if (first !== from || second === undefined || more.length > 0) return "no merge onto the target as it was";
  const made = members.map((member) => commitOf(played.events, member));
  if (members.length === 1) return second === made[0] ? undefined : "not the merge of what was handed off";
  const merged: (string | undefined)[] = [];
  let at: string | undefined = second;
  for (; at !== undefined && at !== from; at = parents.get(at)?.[0]) merged.unshift(parents.get(at)?.[1]);
  if (at === undefined) return "its merges do not begin at the target as it was";
  return merged.join() === made.join()
    ? undefined
    : "its merges are not those of its members, in their order";
}

/** There is no merge; with `fast-forward` on a target that has not moved, the commits are the worker's own. */
function lineProblem(
  { parents, played, history }: Facts,
  { from, to }: Move,
  { members }: Note,
): string | undefined {
  if (members.length !== 1) return `${members.length} tasks landed at once`;
  const made = commitOf(played.events, members[0]!);
  const wasMadeHere = isOnLine(parents, made, from);
  if (history.policy.landing.strategy === "fast-forward" && wasMadeHere && made !== to)
    return "not taken as it was made";
  return isOnLine(parents, to, from) ? undefined : "not one line from where the target was";
}

/** Whether `from` is reached by commits with one parent alone. */
function isOnLine(parents: Facts["parents"], tip: string | undefined, from: string): boolean {
  for (let at = tip; at !== undefined; ) {
    if (at === from) return true;
    const above: readonly string[] = parents.get(at) ?? [];
    if (above.length !== 1) return false;
    at = above[0];
  }
  return false;
}

const commitOf = (
  events: Facts["played"]["events"],
  { task, attempt }: Note["members"][number],
): string | undefined => {
  const found = events.find(
    (event) => event.type === "task.handed-off" && event.task === task && event.attempt === attempt,
  );
  return found?.type === "task.handed-off" ? found.handoff.commit : undefined;
};
