/** Checks every played history against what git and the log say afterwards. */
import type { Event } from "../../src/core/log/event.ts";
import type { RunState } from "../../src/core/log/state.ts";
import { isRepair, ROOT, type Task, type TaskId } from "../../src/core/task.ts";
import { OVER_LEFTOVERS } from "../simulation/gate-places.ts";
import { countedNames } from "../simulation/gate-run-invariants.ts";
import { refusalsOf } from "./check-refusals.ts";
import { shapeProblem } from "./check-shape.ts";
import { type Facts, factsOf } from "./facts.ts";
import type { Move } from "./git-facts.ts";
import { type History, NEVER, type Planted } from "./plant.ts";
import type { Played } from "./play.ts";
import { type Place, TARGET } from "./repository.ts";
import { marksIn, plainName } from "./tree.ts";

/** Gives everything that is wrong, in words. */
export async function check(history: History, place: Place, played: Played): Promise<readonly string[]> {
  if (played.end.is !== "closed") return [`the run does not end: ${JSON.stringify(played.end)}`];
  const facts = await factsOf(history, place, played);
  const { state } = played.end;
  const refusals = await refusalsOf(facts);
  countOutcomes(facts, played.events);
  return [
    ...facts.moves
      .filter(({ isOurs }) => isOurs)
      .flatMap((move) => [...landingProblems(facts, move), ...fixProblems(facts, move, state)]),
    ...outsideProblems(facts),
    ...refusals.problems,
    ...leftoverProblems(played.events),
    ...[...state.tasks.values()].flatMap((task) => taskProblems(facts, task, refusals.times(task.id))),
    ...endProblems(facts, state, await place.git("rev-parse", TARGET)),
  ];
}

/** Failures that are only due to a used workspace must not count for anything. */
const leftoverProblems = (events: readonly Event[]): readonly string[] =>
  events.flatMap((event) =>
    countedNames(event)
      .filter((name) => name.includes(OVER_LEFTOVERS))
      .map((name) => `${event.type} counts ${name}`),
  );

/** Checks one landing: it has a proof, was gated on exactly this target, and is green, or no worse on a red target. */
function landingProblems(facts: Facts, move: Move): readonly string[] {
  const { played, notes, truth } = facts;
  const { from, to } = move;
  const name = to.slice(0, 8);
  const [before, after] = [truth(from), truth(to)];
  const fresh = [...after].filter((failed) => !before.has(failed));
  const note = notes.get(to);
  const run = played.gate.runs.find(({ commit, rules }) => commit === to && rules === from);
  const told = played.events.find((event) => event.type === "batch.landed" && event.commit === to);
  const shape = note && shapeProblem(facts, move, note);
  return [
    ...(after.size > 0 && before.size === 0
      ? [`${name} is red on a green target: ${[...after].join(", ")}`]
      : []),
    ...(before.size > 0 && fresh.length > 0
      ? [`${name} has failures that are new: ${fresh.join(", ")}`]
      : []),
    ...(run ? [] : [`${name} became the target and was never gated by the rules of ${from.slice(0, 8)}`]),
    ...(note ? [] : [`${name} became the target without a proof`]),
    ...(note?.proof === "green" && after.size > 0 ? [`the proof of ${name} says green, and it is red`] : []),
    ...(note && note.onto !== from ? [`the proof of ${name} says that the target was elsewhere`] : []),
    ...(told ? [] : [`${name} became the target and the log does not say so`]),
    ...(shape ? [`${name}: ${shape}`] : []),
  ];
}

/** A fix that lands must have mended some of its failures, if any was still there. */
function fixProblems({ notes, truth }: Facts, { from, to }: Move, state: RunState): readonly string[] {
  const members = notes.get(to)?.members ?? [];
  return members.flatMap(({ task }) => {
    const { key, repairs = [] } = state.tasks.get(task as TaskId)!.spec;
    const there = repairs.map(plainName).filter((name) => truth(from).has(name));
    const isUseless = there.length > 0 && there.every((name) => truth(to).has(name));
    return isUseless ? [`${key} landed on red and mended nothing`] : [];
  });
}

/** Commits that others put on the target must stay there. */
const outsideProblems = ({ played, parents, moves }: Facts): readonly string[] => {
  const history = ancestorsOf(parents, moves.at(-1)?.to);
  return played.outside
    .filter((commit) => !history.has(commit))
    .map((commit) => `somebody else's commit ${commit.slice(0, 8)} is gone`);
};

function ancestorsOf(parents: Facts["parents"], tip: string | undefined): ReadonlySet<string> {
  const found = new Set<string>();
  const open = tip === undefined ? [] : [tip];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    open.push(...(parents.get(next) ?? []));
  }
  return found;
}

/** A done task landed once and is in the tree once, any other never; an innocent task was never refused. */
function taskProblems(facts: Facts, task: Task, refused: number): readonly string[] {
  if (task.id === ROOT) return [];
  const { history, notes, moves, files, place } = facts;
  const { key } = task.spec;
  const isDone = task.state.is === "done";
  const wanted = isDone ? 1 : 0;
  const landings = moves.filter(({ to, isOurs }) => {
    return isOurs && notes.get(to)?.members.some((member) => member.task === task.id);
  }).length;
  const counted = landings === wanted ? [] : [`${key} is ${task.state.is} and landed ${landings} times`];
  if (isRepair(task)) return counted;
  const planted = history.tasks.find((one) => one.key === key)!;
  const marks = marksIn(files.get(moves.at(-1)?.to ?? place.base)!).get(key) ?? 0;
  return [
    ...counted,
    ...(marks === wanted ? [] : [`${key} is ${task.state.is} and is ${marks} times in the tree`]),
    ...endOf(planted, isDone, refused, history),
  ];
}

function endOf(
  { key, makes }: Planted,
  isDone: boolean,
  refused: number,
  { policy }: History,
): readonly string[] {
  const most = policy.retry.maxRefused;
  const said = `${key} (${makes.is}) was refused ${refused} times and is ${isDone ? "" : "not "}done`;
  switch (makes.is) {
    case "plain":
    case "offers":
      return isDone && refused === 0 ? [] : [said];
    case "bad": {
      const isRight = refused === makes.times && isDone === makes.times <= most;
      return isRight ? [] : [`${said}, and is bad ${makes.times} times`];
    }
    default:
      return isDone || refused > most ? [] : [said];
  }
}

function endProblems(facts: Facts, state: RunState, tip: string): readonly string[] {
  const { history, played, truth, moves } = facts;
  const { stubborn } = history;
  const isHopeless = [...stubborn.values()].includes(NEVER);
  const failing = [...truth(moves.at(-1)?.to ?? tip)];
  const how = state.closed!.how;
  const isWhole = [...state.tasks.values()].every((task) => task.state.is === "done" || isRepair(task));
  const left = state.closed!.left.join("; ");
  return [
    ...(state.target.tip === tip ? [] : [`the run thinks that the target is at ${state.target.tip}`]),
    ...(failing.length === 0 || isHopeless
      ? []
      : [`red in the end: ${failing.join(", ")} (${how}: ${left})`]),
    ...(how === "done" && failing.length > 0 ? [`done, and red: ${failing.join(", ")}`] : []),
    ...(isWhole && !isHopeless && how !== "done"
      ? [`everything landed, and the run is ${how}: ${left}`]
      : []),
    ...(played.gate.runs.length === 0 ? ["nothing was gated"] : []),
  ];
}

function countOutcomes({ history: { tally }, truth, moves, notes }: Facts, events: readonly Event[]): void {
  const repairs = new Set<string>();
  for (const event of events) {
    if (event.type === "repair.planned") {
      tally.add("fix task", event.into.length);
      for (const { id } of event.into) repairs.add(id);
    }
    if (event.type === "leftovers.found") tally.add("leftovers named");
    if (event.type === "repair.given-up") tally.add("repair given up");
    if (event.type === "landing.turned" && event.phase.is === "base" && event.phase.members.length > 1) {
      tally.add("bisect in a batch");
    }
    if (event.type === "landing.turned" && event.phase.is === "bisect" && event.phase.isEarly)
      tally.add("members tried first that the gate pointed at");
    if (event.type === "candidate.failed") tally.add("gated ahead, and failed");
    if (event.type === "landing.turned") tally.add("gated ahead, and discarded", event.drop?.length ?? 0);
    if (event.type === "job.started" && event.job.kind === "land" && event.job.moves !== undefined)
      tally.add("landing of what was gated ahead of its turn");
    if (event.type === "batch.landed") {
      tally.add(event.members.length > 1 ? "landing of a batch" : "landing of one task");
      tally.add("fix that landed", event.members.filter(({ task }) => repairs.has(task)).length);
    }
  }
  for (const { from, to, isOurs } of moves) {
    if (isOurs && notes.get(to)?.proof === "red-to-red") tally.add("landing on red");
    if (truth(from).size > 0 && truth(to).size === 0) tally.add("target green again");
  }
}
