/** Generates plans from a seed: each can be run, and reads back as it is. */
import { overlaps } from "../../src/core/scope.ts";
import { outputNames } from "../../src/planning/files/output-name.ts";
import {
  type ExecutionPlan,
  GENERAL_PURPOSE,
  type PlanTask,
  type Question,
  SCRATCHPAD,
  type Score,
} from "../../src/planning/plan.ts";
import { wavesOf } from "../../src/planning/waves.ts";
import { saysToWrite } from "../../src/planning/wording.ts";
import type { Random } from "../../src/simulation/random.ts";

export type PlanShape = {
  /** 12 by default. */
  readonly maxTasks?: number;
  /** The chance that a piece of text could break a format; 0.2 by default. */
  readonly hostile?: number;
};

/** The plan passes lint without errors: no two tasks without an order write the same file. */
export function arbitraryPlan(
  random: Random,
  { maxTasks = 12, hostile = 0.2 }: PlanShape = {},
): ExecutionPlan {
  const words: Words = { random, hostile };
  const score = random.chance(0.5) ? scoreBy(random) : undefined;
  return {
    skein_plan: 1,
    goal: lineBy(words),
    planner: random.pick(["rules", "agent", lineBy(words)]),
    max_concurrent: random.between(1, 64),
    ...(score && { score }),
    success_criteria: listBy(words, 3),
    assumptions: listBy(words, 2),
    questions: questionsBy(words),
    context: { files: pathsBy(random, 4), patterns: listBy(words, 2), tests: pathsBy(random, 2) },
    tasks: tasksBy(words, random.between(1, maxTasks), score?.min_depth ?? 1),
    risks: listBy(words, 2),
  };
}

type Words = { readonly random: Random; readonly hostile: number };

const PLAIN = (
  "Create the parser review login and fix cache for users API tests of add remove database with quickly naïve " +
  "Überprüfung 修复 ログイン проверка"
).split(" ");

/** Marks of markdown, tables, mermaid, HTML, terminals and Skein's own formats; right-to-left texts; joined emoji. */
const HOSTILE = [
  ...'| || a|b ` ``` ``x`` ### --- *** - * 1. > \\ \\| [x](y) ![i](j) <b> <!-- --> &amp; { } {} " \' \\" $HOME %s'.split(
    " ",
  ),
  ..."-> → TaskCreate: metadata: DONE|x none end subgraph #quot; ; , : = 1: null ~~s~~ __u__ |---| <br> \\n _".split(
    " ",
  ),
  ..."👩‍👩‍👧‍👦 🇩🇪 مرحبا שלום é ﬁ 𝒳 \u200f".split(" "),
  "→ CONTINUE TO EXECUTION\0EXECUTION PLAN\0Status: Ready\0### Wave 0 (4 parallel tasks)\0# Wave 0\0\t\0a  b".split(
    "\0",
  ),
].flat();

const wordBy = ({ random, hostile }: Words) => random.pick(random.chance(hostile) ? HOSTILE : PLAIN);

/** The line begins and ends with a plain word, so that nothing at its ends is taken for white space. */
function lineBy(words: Words): string {
  const { random } = words;
  const inner = Array.from({ length: random.below(4) }, () => wordBy(words));
  return [random.pick(PLAIN), ...inner, random.pick(PLAIN)].join(" ");
}

function textBy(words: Words): string {
  const { random } = words;
  const line = () =>
    random.chance(words.hostile) ? `${random.pick(HOSTILE)} ${lineBy(words)}` : lineBy(words);
  const inner = Array.from({ length: random.below(3) }, () => (random.chance(0.2) ? "" : line()));
  return [lineBy(words), ...inner, lineBy(words)].slice(0, random.chance(0.5) ? 1 : undefined).join("\n");
}

const listBy = (words: Words, max: number): readonly string[] =>
  Array.from({ length: words.random.below(max + 1) }, () => lineBy(words));

const FOLDERS = ["src", "src/core", "src/api/v1", "docs", "test", "a b", "ünï"];
const FILES = ["a.ts", "b.ts", "read me.md", "x|y.txt", "c`d.js", "データ.json", "index.html"];

export function pathBy(random: Random): string {
  const folder = random.pick(FOLDERS);
  if (random.chance(0.1)) return `${folder}/`;
  return random.chance(0.1) ? random.pick(FILES) : `${folder}/${random.pick(FILES)}`;
}

/** Has no path twice, and no folder that is also a file. */
const pathsBy = (random: Random, max: number): readonly string[] => [
  ...new Set(Array.from({ length: random.below(max + 1) }, () => pathBy(random))),
];

function scoreBy(random: Random): Score {
  const [verbs, connectors, domain] = [random.between(0, 10), random.between(0, 8), random.between(0, 5)];
  const [scope, risk] = [random.between(0, 6), random.between(0, 5)];
  const total = verbs + connectors + domain + scope + risk;
  const tier = total < 5 ? 1 : total <= 15 ? 2 : 3;
  return { verbs, connectors, domain, scope, risk, total, tier, min_depth: tier };
}

const questionsBy = (words: Words): readonly Question[] =>
  Array.from({ length: words.random.chance(0.2) ? 2 : 0 }, (_, index) => ({
    id: `q${index + 1}`,
    question: lineBy(words),
    default: words.random.chance(0.8) ? lineBy(words) : "",
    blocking: false,
  }));

/** Makes tasks in an order that the dependencies allow, and then shuffles them. */
function tasksBy(words: Words, count: number, minDepth: number): readonly PlanTask[] {
  const { random } = words;
  const idOf = random.pick([(n: number) => `${n}`, (n: number) => `task-${n}`, (n: number) => `root.1.${n}`]);
  const drafts: Draft[] = [];
  for (let number = 1; number <= count; number += 1)
    drafts.push(draftBy(words, idOf(number), drafts, minDepth));
  const mixed = random.chance(0.5) ? drafts : shuffled(random, drafts);
  const names = outputNames(mixed.map(({ task }) => task.subject));
  const waves = wavesOf(mixed.map(({ task }) => task));
  if (waves.is === "cycle") throw new Error(`a generated plan has the cycle ${waves.ids.join(", ")}`);
  const sizes = Map.groupBy(waves.byId.values(), (wave) => wave);
  return mixed.map(({ task, hasOutput, metadata }, index): PlanTask => {
    const wave = waves.byId.get(task.id)!;
    return {
      ...task,
      metadata: {
        ...metadata,
        wave,
        phase_id: task.id,
        parallel: sizes.get(wave)!.length > 1,
        ...(hasOutput && { output_file: `${SCRATCHPAD}/${names[index]}` }),
      },
    };
  });
}

type Draft = {
  readonly task: Omit<PlanTask, "metadata">;
  readonly metadata: Pick<PlanTask["metadata"], "agent" | "depth" | "parent_id">;
  readonly hasOutput: boolean;
};

function draftBy(words: Words, id: string, before: readonly Draft[], minDepth: number): Draft {
  const { random } = words;
  const delivers = random.chance(0.3) ? "report" : "change";
  const description = textBy(words);
  const isForReaders = delivers === "report" && !saysToWrite(description);
  const agent = random.pick([GENERAL_PURPOSE, "code-reviewer", isForReaders ? "Explore" : "debugger"]);
  const scope = pathsBy(random, 3);
  const meets = ({ task }: Draft) =>
    delivers === "change" && task.delivers === "change" && overlaps(task.scope, scope);
  const blockedBy = before.filter((one) => random.chance(0.15) || meets(one)).map(({ task }) => task.id);
  return {
    task: {
      id,
      subject: lineBy(words),
      description,
      activeForm: lineBy(words),
      blockedBy,
      scope,
      reads: pathsBy(random, 3),
      delivers,
      requirements: listBy(words, 3),
      ...(random.chance(0.3) && { success_criterion: random.pick(COMMANDS) }),
      ...(random.chance(0.3) && { priority: random.between(1, 10) }),
      ...(random.chance(0.2) && { branch: "feature/x-1" }),
      ...(random.chance(0.3) && { estimate: estimateBy(random) }),
    },
    metadata: {
      agent,
      depth: random.between(minDepth, 3),
      ...(random.chance(0.4) && { parent_id: random.pick(["root", "root.2"]) }),
    },
    hasOutput: agent !== "Explore" && random.chance(0.5),
  };
}

const COMMANDS = ["npm test", "make check | tee `out`", "test -f 'a b' && echo \"x\"", "grep -q '|' f"];

const estimateBy = (random: Random): NonNullable<PlanTask["estimate"]> => ({
  ...(random.chance(0.7) && { minutes: random.between(0, 90) }),
  ...(random.chance(0.3) && { tokens: random.between(0, 1e6) }),
  ...(random.chance(0.3) && { dollars: random.between(0, 500) / 100 }),
});

export function shuffled<T>(random: Random, items: readonly T[]): readonly T[] {
  const mixed = [...items];
  for (let at = mixed.length - 1; at > 0; at -= 1) {
    const other = random.below(at + 1);
    [mixed[at], mixed[other]] = [mixed[other]!, mixed[at]!];
  }
  return mixed;
}
