/** Writes a plan as markdown for people and agents, and reads a plan back from such a text. */
import type { PlanProblem } from "../files/place.ts";
import { type ReadPlanOptions, readPlan } from "../files/read-plan.ts";
import {
  AGENT_PREFIX,
  type ExecutionPlan,
  isReady,
  type PlanTask,
  type Question,
  type Score,
} from "../plan.ts";

/** The JSON at the end has the whole plan; the text above repeats parts of it for people. */
export function renderMarkdown(plan: ExecutionPlan): string {
  const parts = [
    "# EXECUTION PLAN",
    `Status: ${isReady(plan) ? "Ready" : "Clarification needed"}`,
    `Goal: ${escaped(plan.goal)}`,
    `Planner: ${escaped(plan.planner)}`,
    `Max Concurrent: ${plan.max_concurrent}`,
    ...(plan.score ? [scoreLine(plan.score)] : []),
    ...(plan.questions.length > 0 ? ["Questions:", plan.questions.flatMap(questionLines).join("\n")] : []),
    "Success Criteria:",
    bullets(plan.success_criteria),
    "Assumptions:",
    bullets(plan.assumptions),
    ...(plan.not_covered ? ["Not Covered:", bullets(plan.not_covered)] : []),
    "Relevant Context:",
    contextLines(plan.context).join("\n"),
    "## Subtasks with Agent Assignments",
    tableLines(plan.tasks).join("\n"),
    "## Wave Breakdown",
    ...waveParts(plan.tasks),
    "## Risks",
    bullets(plan.risks),
    "## Plan File",
    `\`\`\`json\n${jsonOf(plan)}\n\`\`\``,
    ...(isReady(plan) ? ["→ CONTINUE TO EXECUTION"] : []),
  ];
  return `${parts.join("\n\n")}\n`;
}

const NONE = "_none_";

const bullets = (items: readonly string[]): string =>
  items.length === 0 ? NONE : items.map((item) => `- ${escaped(item)}`).join("\n");

const scoreLine = ({ total, tier, min_depth, verbs, connectors, domain, scope, risk }: Score): string =>
  `Score: ${total} (tier ${tier}, minimum depth ${min_depth}; verbs ${verbs}, connectors ${connectors}, ` +
  `domain ${domain}, scope ${scope}, risk ${risk})`;

const questionLines = ({ id, question, default: otherwise, blocking }: Question): readonly string[] => [
  `- ${escaped(question)}`,
  `  - Name: ${escaped(id)}`,
  `  - Default: ${escaped(otherwise)}`,
  `  - Blocking: ${blocking ? "yes" : "no"}`,
];

const contextLines = ({ files, patterns, tests }: ExecutionPlan["context"]): readonly string[] => [
  ...contextItem("Files", files),
  ...contextItem("Patterns to follow", patterns),
  ...contextItem("Tests", tests),
];

const contextItem = (label: string, items: readonly string[]): readonly string[] =>
  items.length === 0
    ? [`- ${label}: ${NONE}`]
    : [`- ${label}:`, ...items.map((item) => `  - ${escaped(item)}`)];

const COLUMNS = ["ID", "Description", "Agent", "Depends On", "Wave"] as const;

const cellsOf = ({ id, subject, blockedBy, metadata }: PlanTask): readonly string[] =>
  [id, subject, metadata.agent, blockedBy.join(", ") || "none", String(metadata.wave)].map(plain);

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const tableLines = (tasks: readonly PlanTask[]): readonly string[] => [
  row(COLUMNS),
  row(COLUMNS.map(() => "---")),
  ...tasks.map((task) => row(cellsOf(task).map((cell) => (cell === "" ? "" : escaped(cell))))),
];

/** Each task has a line of its own, never a range or a count of tasks. */
function waveParts(tasks: readonly PlanTask[]): readonly string[] {
  const waves = [...Map.groupBy(tasks, ({ metadata }) => metadata.wave)].sort(([a], [b]) => a - b);
  return waves.flatMap(([wave, members]) => [
    `### Wave ${wave} (${members.length === 1 ? "1 task" : `${members.length} parallel tasks`})`,
    `\`\`\`text\n${members.flatMap(waveLines).join("\n")}\n\`\`\``,
  ]);
}

/** If the subject is cut, lists each of its files below it. */
function waveLines({ id, subject, metadata, scope, reads }: PlanTask): readonly string[] {
  const items = subject.endsWith("…") ? [...new Set([...scope, ...reads])] : [];
  return [plain(`${id}: ${subject} -> ${metadata.agent}`), ...items.map((item) => `   ${plain(item)}`)];
}

/** JSON without invisible characters, and without a line that could close the fence. */
const jsonOf = (plan: ExecutionPlan): string =>
  JSON.stringify(plan, undefined, 2).replace(/[^\P{C}\n]|[^\S \n]/gu, (one) =>
    Array.from(
      { length: one.length },
      (_, at) => `\\u${one.charCodeAt(at).toString(16).padStart(4, "0")}`,
    ).join(""),
  );

type ParsedMarkdown =
  /** `notes`: as of a plan file. */
  | { readonly is: "plan"; readonly plan: ExecutionPlan; readonly notes: readonly string[] }
  | { readonly is: "broken"; readonly problems: readonly PlanProblem[] }
  /** The text is other markdown, without a plan. */
  | { readonly is: "none" };

/**
 * Reads the JSON as a plan file is read. Refuses a line above it that the JSON does not contain, because an edit of
 * only that line would have no effect. A removed line is accepted. Never throws.
 */
export function parseMarkdown(text: string, options: ReadPlanOptions = {}): ParsedMarkdown {
  if (!TITLE.test(text)) return { is: "none" };
  const block = jsonIn(text);
  if (!block) return { is: "broken", problems: [NO_JSON] };
  const read = readPlan(block.json, options);
  if (read.is === "broken") return read;
  const said = new Set(wordLines(renderMarkdown(read.plan)).map(({ words }) => words));
  const other = wordLines(text).find(({ words }) => !said.has(words));
  if (!other) return read;
  const message = 'the plan does not say this: only the JSON under "Plan File" counts';
  const next = "change the JSON, and remove this line or change it, too";
  return { is: "broken", problems: [{ place: `line ${other.number}`, message, next }] };
}

const TITLE = /^\ufeff?\s*(?:#{1,6} +)?\**EXECUTION PLAN\**:?\s*(?:\n|$)/;

const NO_JSON: PlanProblem = {
  place: "",
  message: 'has no block of JSON under "Plan File", which is what counts of a plan in markdown',
  next: "skein plan --out plan.md writes one; plans of 0.2 and earlier are made again",
};

/** `line`: the line where the JSON begins, counted from 0. */
export function jsonIn(text: string): { readonly json: string; readonly line: number } | undefined {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => /^```json\s*$/.test(line));
  const length = start === -1 ? -1 : lines.slice(start + 1).findIndex((line) => /^```\s*$/.test(line));
  if (length === -1) return undefined;
  return { json: lines.slice(start + 1, start + 1 + length).join("\n"), line: start + 1 };
}

/** Lines outside the JSON that have words, without the marks and blanks that formatters change. */
function wordLines(text: string): readonly { readonly number: number; readonly words: string }[] {
  const block = jsonIn(text);
  const [from, to] = block ? [block.line, block.line + block.json.split("\n").length] : [0, 0];
  return text.split("\n").flatMap((line, index) => {
    const words = line.replaceAll(AGENT_PREFIX, "").replace(/[^\p{L}\p{N}]/gu, "");
    return words === "" || (index >= from && index < to) ? [] : [{ number: index + 1, words }];
  });
}

/** On one line, without characters that move, hide or reorder text. */
const plain = (text: string): string => text.replace(UNSEEN, () => " ").trim();

/**
 * Escapes a text so that viewers show it as it is, without emphasis, links, headings, lists, tables, formulas or HTML.
 */
function escaped(text: string): string {
  if (text === "") return "_empty_";
  const inline = text.replace(SPECIAL, "\\$&").replace(/^ | $/g, "&#32;");
  // Characters that a viewer or an editor would drop, turn into a line end, or hide.
  const seen = inline.replace(UNSEEN, (one) => `&#${one.codePointAt(0)};`);
  return seen.replace(/^[#>+-]/, "\\$&").replace(/^(\d{1,9})([.)])/, "$1\\$2");
}

/** An underscore inside a word needs no escape. */
const SPECIAL = /[\\`*[\]<&|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g;
const UNSEEN = /\p{C}|[^\S ]/gu;
