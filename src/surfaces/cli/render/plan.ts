/** How does a plan look on a terminal? Waves side by side as far as there is room, then every task in a table. */
import { type ExecutionPlan, isReady, type PlanTask } from "../../../planning/plan.ts";
import { criticalPath } from "../../../planning/waves.ts";
import { commands, harmless, plural, quoted } from "../../../text/words.ts";
import { fit, padded, table, width, wrapped } from "../columns.ts";
import { paint, SILENT, type Tone } from "../output.ts";

export type PlanPage = {
  /** Of a terminal; without, one wave after the other and no line is broken. */
  readonly columns?: number;
  readonly hasColours: boolean;
  /** Where the plan was written, if it was. */
  readonly file?: string;
  /** Somebody says yes or no to it next: there is nothing else to type. */
  readonly isAsked?: true;
  /** How skein is called. */
  readonly command?: string;
};

/** One line each, without its end. A task is named on a line or in a cell of its own, never as part of a number. */
export function planText(plan: ExecutionPlan, page: PlanPage): readonly string[] {
  const brush: Brush = (tone, text) => paint({ ...SILENT, hasColours: page.hasColours }, tone, text);
  const prose: Prose = (text, indent) => proseLines(text, indent, page.columns);
  return [
    ...header(plan, brush, prose),
    ...questions(plan, brush, prose),
    ...list("Success criteria", plan.success_criteria, brush, prose),
    ...list("Assumptions", plan.assumptions, brush, prose),
    ...context(plan.context, brush, prose),
    ...waves(plan, page, brush, prose),
    ...criteria(plan, brush),
    ...list("Risks", plan.risks, brush, prose),
    ...(page.isAsked ? [] : next(plan, page, brush)),
  ];
}

/** A text in lines, the second and later ones indented. */
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

/** Sentences end by themselves. */
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

/** Side by side with a table below, or the lines of each wave, which then say all that the table would. */
function waves(plan: ExecutionPlan, page: PlanPage, brush: Brush, prose: Prose): readonly string[] {
  if (plan.tasks.length === 0) return [];
  const path = criticalPath(plan);
  const isCritical = new Set(path.length > 1 ? path : []);
  const groups = [...Map.groupBy(plan.tasks, ({ metadata }) => metadata.wave)].sort(([a], [b]) => a - b);
  const waves = groups.map(([wave, tasks]) => ({
    title: `Wave ${wave} (${plural(tasks.length, "task")})`,
    tasks,
  }));
  const columns = page.columns && planColumns(waves, { columns: page.columns, isCritical, brush });
  const legend =
    isCritical.size > 0 ? ["", ...prose(`◆ critical path: ${oneLine(path.join(" → "))}`, "  ")] : [];
  if (columns) return ["", ...columns, ...legend, ...taskTable(plan.tasks, page.columns!, brush)];
  return [
    ...waves.flatMap(({ title: name, tasks }) => [
      ...title(name, brush),
      ...tasks.flatMap((task) => taskLine(task, isCritical, brush, prose)),
    ]),
    ...legend,
  ];
}

/** Whole, and with every blank, however long: whoever says yes to the plan says yes to these. */
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

const MAX_CELL = 28;
const MIN_SUBJECT = 20;

function taskTable(tasks: readonly PlanTask[], columns: number, brush: Brush): readonly string[] {
  const rows = tasks.map(({ id, subject, blockedBy, metadata }) => [
    `  ${fit(oneLine(id), MAX_CELL)}`,
    fit(oneLine(metadata.agent), MAX_CELL),
    blockedBy.length === 0 ? "none" : fit(oneLine(blockedBy.join(", ")), MAX_CELL / 2),
    String(metadata.wave),
    oneLine(subject),
  ]);
  const [head, ...body] = table([["  ID", "Agent", "Depends on", "Wave", "Task"], ...rows]);
  const before = width(head!) - width("Task");
  const room = Math.max(columns - 1, before + MIN_SUBJECT);
  return [...title("Tasks", brush), brush("quiet", head!), ...body.map((row) => fit(row, room))];
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

/** How do the waves of a plan stand side by side? A column each, a cell for each task. */
type Brush = (tone: Tone, text: string) => string;

type WaveColumn = { readonly title: string; readonly tasks: readonly PlanTask[] };

type ColumnsPage = {
  readonly columns: number;
  readonly isCritical: ReadonlySet<string>;
  readonly brush: Brush;
};

const MIN_COLUMN = 22;
const MAX_COLUMN = 40;
/** What a screen shows at once, more or less. */
const MAX_CELLS = 12;
const MAX_BANDS = 3;
const BETWEEN = " │ ";
const MAX_SUBJECT_LINES = 4;
const MAX_AFTER_LINES = 2;

/** In as many bands below each other as the width asks for. Undefined: there is too much for columns, or only one. */
function planColumns(waves: readonly WaveColumn[], page: ColumnsPage): readonly string[] | undefined {
  const room = page.columns - 1;
  const fitting = Math.floor((room + BETWEEN.length) / (MIN_COLUMN + BETWEEN.length));
  if (waves.length === 1 || fitting < 1 || waves.some(({ tasks }) => tasks.length > MAX_CELLS))
    return undefined;
  const bands = Math.ceil(waves.length / fitting);
  if (bands > MAX_BANDS) return undefined;
  const perBand = Math.ceil(waves.length / bands);
  const each = Math.floor((room - BETWEEN.length * (perBand - 1)) / perBand);
  const columns = waves.map((wave) => columnLines(wave, Math.min(each, MAX_COLUMN), page.isCritical));
  return Array.from({ length: bands }, (_, band) => {
    const side = columns.slice(band * perBand, (band + 1) * perBand);
    return [...(band > 0 ? [""] : []), ...besideEachOther(side, Math.min(each, MAX_COLUMN), page.brush)];
  }).flat();
}

/** On one line; nobody reads more of it here. */
const oneLine = (text: string, max?: number): string =>
  harmless(text.slice(0, MAX_READ).replace(/\s+/g, " ").trim(), max);
const MAX_READ = 4_000;

type Piece = { readonly tone: Tone; readonly text: string };

function columnLines(wave: WaveColumn, columns: number, isCritical: ReadonlySet<string>): readonly Piece[] {
  const cells = wave.tasks.map((task) => cellLines(task, columns, isCritical.has(task.id)));
  return [
    { tone: "strong", text: fit(wave.title, columns) },
    { tone: "quiet", text: "─".repeat(columns) },
    ...cells.flat(),
  ];
}

const INDENT = 4;

/** Its id and subject, who does it, and what it waits for. */
function cellLines(task: PlanTask, columns: number, isCritical: boolean): readonly Piece[] {
  const { id, subject, blockedBy, metadata } = task;
  const start = `${isCritical ? "◆" : " "} ${fit(oneLine(id), Math.floor(columns / 2))} `;
  const indent = " ".repeat(INDENT);
  const subjects = folded(start, oneLine(subject), { columns, maxLines: MAX_SUBJECT_LINES });
  const after = `after ${oneLine(blockedBy.join(", "))}`;
  return [
    ...subjects.map((text): Piece => ({ tone: isCritical ? "strong" : "plain", text })),
    quiet(fit(`${indent}${oneLine(metadata.agent)}`, columns)),
    ...(blockedBy.length > 0 ? folded(indent, after, { columns, maxLines: MAX_AFTER_LINES }).map(quiet) : []),
  ];
}

const quiet = (text: string): Piece => ({ tone: "quiet", text });

/** Broken at blanks, and inside a word that no line could hold; what is left after so many lines is cut off. */
function folded(start: string, text: string, { columns, maxLines }: Fold): readonly string[] {
  const indent = " ".repeat(INDENT);
  const lines: string[] = [];
  let line = start;
  let isNew = true;
  for (const word of text.split(" ")) {
    const joined = isNew ? `${line}${word}` : `${line} ${word}`;
    if (width(joined) <= columns) line = joined;
    else if (width(word) <= columns - INDENT) {
      lines.push(line);
      line = `${indent}${word}`;
    } else {
      const parts = broken(joined, indent, columns);
      lines.push(...parts.slice(0, -1));
      line = parts.at(-1)!;
    }
    isNew = false;
  }
  lines.push(line);
  if (lines.length <= maxLines) return lines;
  return [...lines.slice(0, maxLines - 1), fit(`${lines[maxLines - 1]!} …`, columns)];
}

type Fold = { readonly columns: number; readonly maxLines: number };

function broken(line: string, indent: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let current = "";
  let used = 0;
  for (const character of line) {
    const more = width(character);
    if (used + more > columns) {
      lines.push(current.trimEnd());
      current = indent;
      used = indent.length;
    }
    current += character;
    used += more;
  }
  return [...lines, current];
}

function besideEachOther(
  columns: readonly (readonly Piece[])[],
  each: number,
  brush: Brush,
): readonly string[] {
  const height = Math.max(...columns.map((lines) => lines.length));
  const between = brush("quiet", BETWEEN);
  return Array.from({ length: height }, (_, row) => {
    const pieces = columns.map((lines) => lines[row]);
    const last = pieces.findLastIndex((piece) => piece !== undefined);
    return pieces
      .slice(0, last + 1)
      .map((piece, at) => {
        const { tone, text } = piece ?? { tone: "plain", text: "" };
        return brush(tone, text) + (at === last ? "" : padded("", each - width(text)));
      })
      .join(between);
  });
}
