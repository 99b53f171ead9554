/** Plays planners and workers of a made-up project by seed: tasks are split, planned in sprints and worked on. */

import { type PlanAnswer, readPlanAnswer } from "../../src/core/answers/plan-answer.ts";
import type { PlanBrief, WorkBrief } from "../../src/core/brief.ts";
import { failure } from "../../src/core/failure.ts";
import { type Job, jobId } from "../../src/core/job.ts";
import { EVERYTHING } from "../../src/core/scope.ts";
import { depth, ROOT, type Task } from "../../src/core/task.ts";
import { type Random, randomFrom, seedFor } from "../../src/simulation/random.ts";
import { evidenceOf, handoff, type Worked } from "../../src/simulation/virtual-queue.ts";
import type { Script } from "./virtual-queue.ts";

export type Team = {
  readonly seed: number;
  /** `width`: tasks in one answer of the root planner. `sprints`: its answers that have tasks. */
  readonly width: number;
  readonly sprints: number;
  /** Chances that a task is large enough to be split, waits for another task, is a report, or shares a file. */
  readonly large: number;
  readonly linked: number;
  readonly reports: number;
  readonly shared: number;
  /** Chances that a worker's change breaks a test, or clashes with another change. */
  readonly breaks: number;
  readonly clashes: number;
  /** The chance that a task is for the specialist "painter". */
  readonly painted?: number;
  /** The chance that a task of the root has no known files, and maybe a criterion that can fail. */
  readonly loose?: number;
};

export function scriptedTeam(team: Team): Script {
  return {
    plan: (brief) => withTerms(team, brief, JSON.stringify(planAnswer(team, brief))),
    work: (brief) => workResult(team, brief),
    ms: (job) => duration(randomFrom(seedFor(team.seed, jobId(job))), job),
  };
}

function duration(random: Random, job: Job): number {
  switch (job.kind) {
    case "plan":
      return random.spread(5_000, 120_000);
    case "work":
      return random.spread(30_000, 2_400_000);
    case "land":
    case "check":
      return random.spread(5_000, 120_000);
  }
}

type Item = {
  readonly id: string;
  readonly description: string;
  readonly scope: readonly string[];
  readonly acceptance: string;
  readonly priority?: number;
  readonly after: readonly string[];
  readonly delivers: "change" | "report";
  readonly agent?: string;
};

/** The scratchpad is the planner's only memory: it holds the number of the next sprint. */
function planAnswer(team: Team, brief: PlanBrief) {
  const sprint = sprintNumber(brief.scratchpad);
  const random = randomFrom(seedFor(team.seed, `${brief.task} sprint ${sprint} turn ${brief.turn}`));
  const dealt = brief.concerns
    .filter(() => random.chance(0.6))
    .map((concern) => dealWith(team, brief, concern));
  const whole = brief.task !== ROOT && brief.first && random.chance(0.1);
  const wait = !brief.first && brief.active.length > 0 && random.chance(0.5);
  const items = whole || wait ? [] : sprintOf(team, brief, sprint).map((one) => painted(team, brief, one));
  const next = items.length > 0 ? sprint + 1 : sprint;
  const again = brief.first ? [] : dealt.flatMap(({ again: one }) => one ?? []);
  const addressed = dealt.map(({ says }) => says);
  return { scratchpad: `sprint ${next}`, tasks: [...items, ...again], addressed };
}

type Said = PlanBrief["concerns"][number];

/**
 * Addresses a concern. One that was only said is named. For a task that was not done, planners give a reason or none,
 * plan it again, name another task that did it, or name an unknown task. Uses random numbers of its own.
 */
function dealWith(team: Team, { task, turn, first, active, news }: PlanBrief, { id, kind }: Said) {
  const random = randomFrom(seedFor(team.seed, `${task} turn ${turn} deals with ${id}`));
  if (kind === "said") return { says: id };
  const others = [...active, ...news].map(({ key }) => key);
  switch (random.pick(["bare", "bare", "because", "again", "again", "other", "wrong"])) {
    case "bare":
      return { says: id };
    case "again":
      if (first) return { says: { concern: id, because: "it is too early" } };
      return { says: { concern: id, by: `again-${id}` }, again: [againFor(random, task, id)] };
    case "other":
      return { says: { concern: id, by: others.length > 0 ? random.pick(others) : "nobody" } };
    case "wrong":
      return { says: { concern: id, by: "nobody-knows-it" } };
    default:
      return { says: { concern: id, because: "it is not needed" } };
  }
}

/** A subplanner does not know which of its files are free, so it asks for a report instead. */
const againFor = (random: Random, task: PlanBrief["task"], id: string): Item =>
  item(random, `again-${id}`, {
    scope: task === ROOT ? [`again/${id}.ts`] : [],
    after: [],
    delivers: task === ROOT ? "change" : "report",
  });

/** Uses random numbers of its own, so that all else is as it was before there were specialists. */
function painted(team: Team, { task }: Planned, one: Item): Item {
  const random = randomFrom(seedFor(team.seed, `who paints ${task} ${one.id}`));
  return random.chance(team.painted ?? 0) ? { ...one, agent: "painter" } : one;
}

/** Adds terms as a plan file has them: a planner's text cannot ask for them. */
function withTerms(team: Team, { task }: Planned, text: string): string | PlanAnswer {
  const read = task === ROOT && (team.loose ?? 0) > 0 ? readPlanAnswer(text) : undefined;
  if (read?.is !== "answer" || read.answer.tasks.length === 0) return text;
  const tasks = read.answer.tasks.map((one) => {
    const random = randomFrom(seedFor(team.seed, `terms of ${one.id}`));
    if (!random.chance(team.loose ?? 0) || one.delivers === "report") return one;
    const criterion = random.chance(0.3) ? { criterion: "check it" } : {};
    return { ...one, scope: [EVERYTHING], terms: { loose: true as const, ...criterion } };
  });
  return { ...read.answer, tasks };
}

/** Whether the planner has no more tasks to ask for, so that its task may be called finished. */
export const isPlannedOut = (team: Team, task: Task): boolean =>
  sprintOf(team, { task: task.id, spec: task.spec }, sprintNumber(task.scratchpad)).length === 0;

const sprintNumber = (scratchpad: string) => Number(scratchpad.match(/sprint (\d+)/)?.[1] ?? 0);

type Planned = Pick<PlanBrief, "task" | "spec">;

const sprintOf = (team: Team, brief: Planned, sprint: number): readonly Item[] =>
  brief.task === ROOT ? rootSprint(team, sprint) : subSprint(team, brief, sprint);

function rootSprint(team: Team, sprint: number): readonly Item[] {
  if (sprint >= team.sprints) return [];
  const random = randomFrom(seedFor(team.seed, `root sprint ${sprint}`));
  const ids = Array.from({ length: team.width }, (_, i) => `s${sprint}-${i}`);
  return ids.map((id, i) => {
    const report = random.chance(team.reports);
    const earlier = random.chance(team.linked) ? earlierIds(random, ids, sprint, i) : [];
    const own = rootScope(team, random, sprint, i);
    const scope = random.chance(team.shared) ? [...own, `shared/${random.below(3)}.ts`] : own;
    return item(random, id, { scope, after: earlier, delivers: report ? "report" : "change" });
  });
}

function rootScope(team: Team, random: Random, sprint: number, i: number): readonly string[] {
  const folder = `m${sprint}/d${i}`;
  if (!random.chance(team.large)) return files(folder, random.between(1, 3));
  return random.chance(0.5) ? [`${folder}/`] : files(folder, random.between(4, 12));
}

/** Up to three earlier tasks of this sprint, or of the sprint before. */
function earlierIds(random: Random, ids: readonly string[], sprint: number, i: number): readonly string[] {
  const candidates = [...ids.slice(Math.max(0, i - 10), i), ...(sprint > 0 ? [`s${sprint - 1}-0`] : [])];
  if (candidates.length === 0) return [];
  return [...new Set(Array.from({ length: random.between(1, 3) }, () => random.pick(candidates)))];
}

/** Splits the parent's files into two sprints; the second one comes after the news of the first. */
function subSprint(team: Team, brief: Planned, sprint: number): readonly Item[] {
  const random = randomFrom(seedFor(team.seed, `${brief.task} split ${sprint}`));
  const all = brief.spec.scope.flatMap((path) =>
    path.endsWith("/") ? inFolder(brief, path, random) : [path],
  );
  const half = Math.ceil(all.length / 2);
  const mine = sprint === 0 ? all.slice(0, half) : sprint === 1 ? all.slice(half) : [];
  const groups = chunks(mine, random.between(1, 3)).slice(0, 10);
  return groups.map((scope, i) => {
    const after = i > 0 && random.chance(team.linked / 2) ? [`p${sprint}-${i - 1}`] : [];
    return item(random, `p${sprint}-${i}`, { scope, after, delivers: "change" });
  });
}

/** Files of a folder, and now and then a folder within it, as deep as planners may go. */
const inFolder = (brief: Planned, folder: string, random: Random): readonly string[] => [
  ...files(folder.slice(0, -1), random.between(2, 6)),
  ...(depth(brief.task) < 2 && random.chance(0.4) ? [`${folder}sub/`] : []),
];

const files = (folder: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${folder}/f${i}.ts`);

const item = (random: Random, id: string, rest: Pick<Item, "scope" | "after" | "delivers">): Item => ({
  id,
  description: `Make ${id}`,
  acceptance: `${id} works`,
  ...(random.chance(0.4) ? { priority: random.between(1, 9) } : {}),
  ...rest,
});

function workResult(team: Team, brief: WorkBrief): Worked {
  const random = randomFrom(seedFor(team.seed, `${brief.task} attempt ${brief.attempt}`));
  const { terms } = brief.spec;
  const changed = terms?.loose
    ? looseFiles(team, brief)
    : brief.spec.scope.map((path) => fileAt(path, brief));
  const report = brief.spec.delivers === "report";
  const repairs = brief.spec.repairs ?? [];
  const fails = `test: ${brief.task}#${brief.attempt} works`;
  const breaks = random.chance(team.breaks / brief.attempt) ? [fails] : [];
  const clash = random.chance(team.clashes) ? `m${random.below(4)}` : undefined;
  return {
    handoff: handoff(
      brief.task,
      `did ${brief.spec.key}`,
      random.chance(0.1) ? ["the name is not clear"] : [],
    ),
    evidence: {
      ...evidenceOf(report ? [] : changed),
      ...(report ? {} : { commit: `${brief.task}.${brief.attempt}` }),
      ...(terms?.criterion !== undefined && random.chance(0.4) && { unmet: failure("unmet", "it is red") }),
    },
    change: {
      files: changed,
      breaks,
      heals: random.chance(0.75) ? repairs : [],
      ...(clash !== undefined && repairs.length === 0 ? { clash } : {}),
    },
    problems: breaks.map((name) => ({
      class: "tests",
      name,
      files: changed.slice(0, 2),
      message: "it does not work",
    })),
  };
}

const fileAt = (path: string, { task }: WorkBrief) =>
  path.endsWith("/") ? `${path}made-by-${task}.ts` : path;

/** All such tasks change the same few files, so that they meet; another attempt may change another file. */
function looseFiles(team: Team, { task, attempt }: WorkBrief): readonly string[] {
  const random = randomFrom(seedFor(team.seed, `files of ${task}`));
  const usual = `loose/${random.below(3)}.ts`;
  const other = randomFrom(seedFor(team.seed, `files of ${task} attempt ${attempt}`));
  return other.chance(0.3) ? [...new Set([usual, `loose/${other.below(3)}.ts`])] : [usual];
}

const chunks = <T>(items: readonly T[], size: number) =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
