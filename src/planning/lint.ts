/** Checks a plan: errors that would make it fail, and warnings about what would make it slow. */
export type { Finding } from "./files/place.ts";

import { containing, EVERYTHING } from "../core/scope.ts";
import { closest } from "../text/closest.ts";
import { quoted } from "../text/lines.ts";
import { error, type Finding, MAX_TASKS, warning } from "./files/place.ts";
import { type Reach, reachOf, sharedWrites } from "./lint/conflicts.ts";
import { orderFindings } from "./lint/order.ts";
import { type AgentFact, type TaskLimits, taskJudge } from "./lint/task.ts";
import { treeOf } from "./paths.ts";
import type { ExecutionPlan, PlanTask } from "./plan.ts";
import { type Waves, wavesOf } from "./waves.ts";

/** Facts besides the plan. Checks that need a missing fact are left out. */
export type LintFacts = {
  readonly agents?: readonly AgentFact[];
  /** Paths of all the repository's files; left out if only some are known. */
  readonly files?: readonly string[];
  /** Files that any task may change, such as lock files. */
  readonly sharedFiles?: readonly string[];
  readonly limits?: Partial<LintLimits>;
};

type LintLimits = TaskLimits & { readonly minTasksAWave: number; readonly maxWaves: number };

/** The same as in planning/limits.json. */
const LIMITS: LintLimits = { maxFilesModified: 3, maxFilesRead: 5, minTasksAWave: 4, maxWaves: 6 };

/** Errors first, then warnings, each in the order of the plan. A plan with an error must not be run. */
export function lintPlan(plan: ExecutionPlan, facts: LintFacts = {}): readonly Finding[] {
  const { tasks } = plan;
  if (tasks.length > MAX_TASKS)
    return [
      error("tasks", `there are ${tasks.length} tasks; a run takes at most ${MAX_TASKS}`, "split the plan"),
    ];
  const limits = { ...LIMITS, ...facts.limits };
  const order = orderFindings(tasks);
  const waves = wavesOf(tasks);
  const isSound = waves.is === "waves" && waves.byId.size === tasks.length;
  const reach = isSound ? reachOf(tasks, (id) => waves.byId.get(id)!) : undefined;
  const judge = taskJudge(facts.agents, limits);
  return bounded([
    ...planFindings(plan),
    ...depthFindings(plan),
    ...order,
    ...(waves.is === "waves" ? waveFindings(tasks, waves, limits) : []),
    ...tasks.flatMap((task, index) => judge(task, `tasks[${index}]`)),
    ...(reach ? [...sharedWrites(tasks, reach, facts.sharedFiles), ...redundantWaits(tasks, reach)] : []),
    ...(facts.files ? fileFindings(tasks, facts.files) : []),
  ]);
}

const MAX_A_LEVEL = 200;

function bounded(found: readonly Finding[]): readonly Finding[] {
  return (["error", "warning"] as const).flatMap((level) => {
    const some = found.filter((one) => one.level === level);
    if (some.length <= MAX_A_LEVEL) return some;
    const more = `and ${some.length - MAX_A_LEVEL} more ${level}s`;
    return [...some.slice(0, MAX_A_LEVEL), { level, place: "", message: more }];
  });
}

function planFindings({
  tasks,
  questions,
  success_criteria,
  not_covered = [],
}: ExecutionPlan): readonly Finding[] {
  const isOpen = questions.some(({ blocking }) => blocking);
  return [
    ...(tasks.length === 0 && !isOpen ? [error("tasks", "there are no tasks", "name at least one")] : []),
    ...questions.flatMap((one, index) =>
      one.blocking
        ? [
            error(
              `questions[${index}]`,
              `this must be answered first: ${one.question}`,
              "plan again with the answer",
            ),
          ]
        : [],
    ),
    ...(success_criteria.length === 0
      ? [
          warning(
            "success_criteria",
            "no success criteria say when the goal is reached",
            "name what can be verified",
          ),
        ]
      : []),
    ...not_covered.map((sentence) =>
      warning(
        "not_covered",
        `no task and no assumption has this of the request: ${quoted(sentence)}`,
        "add it to a task, then remove it here",
      ),
    ),
  ];
}

const MAX_NAMED = 10;

/** Only a warning: a request with a high score may still be one piece of work. */
function depthFindings({ tasks, score }: ExecutionPlan): readonly Finding[] {
  const shallow = tasks.filter(({ metadata }) => metadata.depth < (score?.min_depth ?? 1));
  if (score === undefined || shallow.length === 0) return [];
  const named = shallow.slice(0, MAX_NAMED).map(({ id }) => `"${id}"`);
  const more = shallow.length > named.length ? ` and ${shallow.length - named.length} more` : "";
  const message = `the request scores ${score.total}, which speaks for a depth of ${score.min_depth}; less deep: ${named.join(", ")}${more}`;
  return [warning("tasks", message, "split those that contain several things")];
}

/** A smaller plan with few tasks per wave is small rather than slow. */
const MIN_TASKS = 8;

function waveFindings(
  tasks: readonly PlanTask[],
  { byId, count }: Waves & { readonly is: "waves" },
  { minTasksAWave, maxWaves }: LintLimits,
): readonly Finding[] {
  const sizes = new Map<number, number>();
  for (const { id } of tasks) sizes.set(byId.get(id)!, (sizes.get(byId.get(id)!) ?? 0) + 1);
  const wrong = tasks.flatMap(({ id, metadata }, index) => {
    const wave = byId.get(id)!;
    const path = `tasks[${index}].metadata`;
    const parallel = sizes.get(wave)! > 1;
    return [
      ...(metadata.wave === wave
        ? []
        : [error(`${path}.wave`, `is ${metadata.wave}, and ${wave} by its dependencies`)]),
      ...(metadata.phase_id === id ? [] : [error(`${path}.phase_id`, `is not the task's id, "${id}"`)]),
      ...(metadata.parallel === parallel
        ? []
        : [error(`${path}.parallel`, `must be ${parallel}: so is its wave`)]),
    ];
  });
  const isThin = tasks.length >= MIN_TASKS && tasks.length < minTasksAWave * count;
  const average = Math.round((tasks.length / count) * 10) / 10;
  const fewer = "let tasks wait only for what they need";
  return [
    ...wrong,
    ...(isThin
      ? [warning("tasks", `there are ${average} tasks a wave; ${minTasksAWave} or more are better`, fewer)]
      : []),
    ...(count >= maxWaves
      ? [warning("tasks", `there are ${count} waves; fewer than ${maxWaves} are better`, fewer)]
      : []),
  ];
}

const redundantWaits = (tasks: readonly PlanTask[], reach: Reach): readonly Finding[] =>
  tasks.flatMap(({ id, blockedBy }, index) =>
    reach
      .redundant(index)
      .map((at) =>
        warning(
          `tasks[${index}].blockedBy[${at}]`,
          `task "${id}" waits for "${blockedBy[at]}" by way of another already`,
          "remove it",
        ),
      ),
  );

/**
 * A new folder is fine, but one whose name nearly equals an existing one is probably a mistake. A file to read must
 * exist or be written by a task.
 */
function fileFindings(tasks: readonly PlanTask[], files: readonly string[]): readonly Finding[] {
  const known = new Set(files);
  const folders = new Set([...treeOf({ files }).folders].map(withoutSlash));
  const isMade = containing(tasks.flatMap(({ scope }) => scope));
  const isThere = (path: string) =>
    path === EVERYTHING || known.has(path) || folders.has(withoutSlash(path)) || isMade(path);
  const near = nearIn(folders);
  return tasks.flatMap(({ scope, reads }, index) => [
    ...scope.flatMap((path, at) => {
      const folder = folderOf(path);
      const meant = folder === "" || folders.has(folder) ? undefined : near(folder);
      const place = `tasks[${index}].scope[${at}]`;
      return meant === undefined
        ? []
        : [warning(place, `there is no folder ${folder}/`, `did you mean ${meant}/?`)];
    }),
    ...reads.flatMap((path, at) =>
      isThere(path)
        ? []
        : [warning(`tasks[${index}].reads[${at}]`, `there is no ${path}, and no task makes it`)],
    ),
  ]);
}

const withoutSlash = (path: string) => (path.endsWith("/") ? path.slice(0, -1) : path);

/** The folder of a file; a folder itself. */
const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf("/")));

/** Limited, because looking for a similar name costs more than anything else here. */
const MAX_LOOKS = 20;
const MAX_FOLDERS = 2_000;

function nearIn(folders: ReadonlySet<string>): (folder: string) => string | undefined {
  const names = [...folders].slice(0, MAX_FOLDERS);
  const answers = new Map<string, string | undefined>();
  return (folder) => {
    if (!answers.has(folder) && answers.size < MAX_LOOKS) {
      const deep = folder.split("/").length;
      answers.set(
        folder,
        closest(
          folder,
          names.filter((name) => isSlip(name, folder, deep)),
        )[0],
      );
    }
    return answers.get(folder);
  };
}

/** True if the paths differ in one part, and only by a misspelling; "src/api" is not a misspelt "src/cli". */
function isSlip(name: string, folder: string, deep: number): boolean {
  const parts = name.split("/");
  if (parts.length !== deep) return false;
  const written = folder.split("/");
  const other = parts.flatMap((part, index) => (part === written[index] ? [] : [index]));
  const [only] = other;
  return (
    other.length === 1 && closest(written[only!]!, [parts[only!]!]).length === 1 && written[only!]!.length > 3
  );
}
