/** Shows a plan on a terminal: one wave after the other, one line per task. */
import { type ExecutionPlan, isReady, type PlanTask } from "../../../planning/plan.ts";
import { criticalPath } from "../../../planning/waves.ts";
import { commands, harmless, plural, quoted } from "../../../text/words.ts";
import { wrapped } from "../columns.ts";
import { paint, SILENT, type Tone } from "../output.ts";

export type PlanPage = {
  /** The width of a terminal; without one, lines are not wrapped. */
  readonly columns?: number;
  readonly hasColours: boolean;
  /** The file that the plan was written to, if any. */
  readonly file?: string;
  /** The person is asked next whether to run it, so there is nothing else to type. */
  readonly isAsked?: true;
  /** How skein is called. */
  readonly command?: string;
};

/** Lines without line ends. Each task has its own line and is never part of a count. */
export function planText(plan: ExecutionPlan, page: PlanPage): readonly string[] {
  const brush: Brush = (tone, text) => paint({ ...SILENT, hasColours: page.hasColours }, tone, text);
  const prose: Prose = (text, indent) => proseLines(text, indent, page.columns);
  return [
    ...header(plan, brush, prose),
    ...questions(plan, brush, prose),
    ...list("Success criteria", plan.success_criteria, brush, prose),
    ...list("Assumptions", plan.assumptions, brush, prose),
    ...list("Of the request, in no task and no assumption", plan.not_covered ?? [], brush, prose),
    ...context(plan.context, brush, prose),
    ...waves(plan, brush, prose),
    ...criteria(plan, brush),
    ...list("Risks", plan.risks, brush, prose),
    ...(page.isAsked ? [] : next(plan, page, brush)),
  ];
}

/** Wraps a text, and indents the second and later lines. */
type Prose = (text: string, indent?: string) => readonly string[];

const MAX_PROSE_COLUMNS = 100;

const proseLines = (text: string, indent = "", columns?: number): readonly string[] =>
  columns === undefined
    ? [text]
    : wrapped(text, Math.min(columns - 1, MAX_PROSE_COLUMNS), indent).split("\n");

function header(plan: ExecutionPlan, brush: Brush, prose: Prose): readonly string[] {
  const { tasks, score, max_concurrent, planner } = plan;
  const count = new Set(tasks.map(({ metadata }) => metadata.wave)).size;
  const size = `${plural(tasks.length, "task")} in ${plural(count, "wave")}, at most ${max_concurrent} at a time`;
  const counted = score && [
    `Complexity ${score.total} of 35: tier ${score.tier}, a depth of ${score.min_depth} is advised`,
    `(verbs ${score.verbs}, connectors ${score.connectors}, domain ${score.domain}, scope ${score.scope}, risk ${score.risk})`,
  ];
  const status = isReady(plan) ? brush("good", "ready") : brush("bad", "clarification needed");
  return [
    `${brush("strong", "Execution plan:")} ${status}`,
    ...prose(oneLine(plan.goal)),
    "",
    ...prose(`${size}; planned by ${oneLine(planner, 100)}.`),
    ...(counted ? prose(`${counted.join(" ")}.`) : []),
  ];
}

const title = (text: string, brush: Brush): readonly string[] => ["", brush("strong", text)];

function list(name: string, items: readonly string[], brush: Brush, prose: Prose): readonly string[] {
  if (items.length === 0) return [];
  return [...title(name, brush), ...items.flatMap((item) => prose(`  - ${oneLine(item)}`, "    "))];
}

function context({ files, patterns, tests }: ExecutionPlan["context"], brush: Brush, prose: Prose) {
  const known = Object.entries({ Files: files, "Patterns to follow": patterns, Tests: tests })
    .filter(([, items]) => items.length > 0)
    .flatMap(([name, items]) => prose(`  ${name}: ${inARow(items.map((item) => oneLine(item)))}`, "    "));
  return known.length === 0 ? [] : [...title("Context", brush), ...known];
}

/** Joins with commas, except after sentences. */
const inARow = (items: readonly string[]) => items.join(", ").replaceAll("., ", ". ");

function questions(plan: ExecutionPlan, brush: Brush, prose: Prose): readonly string[] {
  if (plan.questions.length === 0) return [];
  const lines = plan.questions.flatMap(({ question, default: otherwise, blocking }) => [
    ...prose(`  - ${oneLine(question)}`, "    "),
    ...prose(`    ${blocking ? "blocks the plan; " : ""}default: ${oneLine(otherwise)}`, "    ").map((line) =>
      brush(blocking ? "bad" : "quiet", line),
    ),
  ]);
  return [...title("Questions", brush), ...lines];
}

function waves(plan: ExecutionPlan, brush: Brush, prose: Prose): readonly string[] {
  const path = criticalPath(plan);
  const isCritical = new Set(path.length > 1 ? path : []);
  const groups = [...Map.groupBy(plan.tasks, ({ metadata }) => metadata.wave)].sort(([a], [b]) => a - b);
  return [
    ...groups.flatMap(([wave, tasks]) => [
      ...title(`Wave ${wave} (${plural(tasks.length, "task")})`, brush),
      ...tasks.flatMap((task) => taskLine(task, isCritical, brush, prose)),
    ]),
    ...(isCritical.size > 0 ? ["", ...prose(`◆ critical path: ${oneLine(path.join(" → "))}`, "  ")] : []),
  ];
}

/** In full, however long: agreeing to the plan means agreeing to run these commands. */
function criteria({ tasks }: ExecutionPlan, brush: Brush): readonly string[] {
  const byCommand = Map.groupBy(tasks, ({ success_criterion }) => success_criterion);
  byCommand.delete(undefined);
  if (byCommand.size === 0) return [];
  const lines = byCommand.entries().map(([command, those]) => {
    const ids = oneLine(those.map(({ id }) => id).join(", "));
    return `  ${ids}: ${harmless(command!, Number.MAX_SAFE_INTEGER)}`;
  });
  return [...title("Commands that must pass before a task is done", brush), ...lines];
}

function taskLine(
  task: PlanTask,
  isCritical: ReadonlySet<string>,
  brush: Brush,
  prose: Prose,
): readonly string[] {
  const { id, subject, blockedBy, metadata } = task;
  const mark = isCritical.has(id) ? "◆" : " ";
  const after = blockedBy.length > 0 ? ` (after ${oneLine(blockedBy.join(", "))})` : "";
  const text = `${mark} ${oneLine(id, 60)}: ${oneLine(subject)} -> ${oneLine(metadata.agent, 60)}${after}`;
  return prose(`  ${text}`, "      ").map((line) => brush(isCritical.has(id) ? "strong" : "plain", line));
}

function next(plan: ExecutionPlan, { file, command = "skein" }: PlanPage, brush: Brush): readonly string[] {
  const path = quoted(oneLine(file ?? "plan.json"));
  const run = [`${command} run ${path}`, "work on it"] as const;
  const check = [`${command} plan check ${path}`, "after you have edited it"] as const;
  const write = [`${command} plan "…" --out ${path}`, "keep it"] as const;
  const ask = [`${command} plan "…" --ask`, "answer the questions"] as const;
  const rows = isReady(plan) ? (file === undefined ? [write, run] : [check, run]) : [ask];
  return [...title("Next", brush), ...commands(rows).map((row) => `  ${row}`)];
}

/** Paints a text in a tone. */
type Brush = (tone: Tone, text: string) => string;

/** On one line, limited in length. */
const oneLine = (text: string, max?: number): string =>
  harmless(text.slice(0, MAX_READ).replace(/\s+/g, " ").trim(), max);
const MAX_READ = 4_000;
