/** How does a plan read as markdown? Everything of it, for people and for agents; `parseMarkdown` reads it back. */
import { type ExecutionPlan, isReady, type PlanTask, type Question, type Score } from "../plan.ts";
import { escaped, jsonLine, NONE, plain } from "./escape.ts";

/** The words that the parser knows a plan by. */
export const TITLE = "EXECUTION PLAN";
export const READY = "Ready";
export const UNCLEAR = "Clarification needed";
export const GO_ON = "→ CONTINUE TO EXECUTION";
export const LABELS = [
  "Status",
  "Goal",
  "Planner",
  "Max Concurrent",
  "Score",
  "Plan Format",
  "Questions",
  "Success Criteria",
  "Assumptions",
  "Relevant Context",
  "Subtasks with Agent Assignments",
  "Wave Breakdown",
  "Task Records",
  "Dependencies",
  "Risks",
] as const;
export type Label = (typeof LABELS)[number];
const COLUMNS = ["ID", "Description", "Agent", "Depends On", "Wave"] as const;

/**
 * Goal, lists, records and dependencies hold all of the plan. The table and the waves say the same again, for
 * who reads: each task on a line of its own, never a range or a number of tasks instead.
 */
export function renderMarkdown(plan: ExecutionPlan): string {
  const parts = [
    `# ${TITLE}`,
    `Status: ${isReady(plan) ? READY : UNCLEAR}`,
    `Goal: ${escaped(plan.goal)}`,
    `Planner: ${escaped(plan.planner)}`,
    `Max Concurrent: ${plan.max_concurrent}`,
    ...(plan.score ? [scoreLine(plan.score)] : []),
    `Plan Format: ${plan.skein_plan}`,
    ...(plan.questions.length > 0 ? ["Questions:", plan.questions.flatMap(questionLines).join("\n")] : []),
    "Success Criteria:",
    bullets(plan.success_criteria),
    "Assumptions:",
    bullets(plan.assumptions),
    "Relevant Context:",
    contextLines(plan.context).join("\n"),
    "## Subtasks with Agent Assignments",
    tableLines(plan.tasks).join("\n"),
    "## Wave Breakdown",
    ...waveParts(plan.tasks),
    "## Task Records",
    fenced(plan.tasks.map(recordLines)),
    "## Dependencies",
    fenced(plan.tasks.filter(({ blockedBy }) => blockedBy.length > 0).map(dependencyLines)),
    "## Risks",
    bullets(plan.risks),
    ...(isReady(plan) ? [GO_ON] : []),
  ];
  return `${parts.join("\n\n")}\n`;
}

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

const cellsOf = ({ id, subject, blockedBy, metadata }: PlanTask): readonly string[] =>
  [
    id,
    subject,
    metadata.agent,
    blockedBy.length === 0 ? "none" : blockedBy.join(", "),
    String(metadata.wave),
  ].map(plain);

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const tableLines = (tasks: readonly PlanTask[]): readonly string[] => [
  row(COLUMNS),
  row(COLUMNS.map(() => "---")),
  ...tasks.map((task) => row(cellsOf(task).map((cell) => (cell === "" ? "" : escaped(cell))))),
];

function waveParts(tasks: readonly PlanTask[]): readonly string[] {
  const waves = [...Map.groupBy(tasks, ({ metadata }) => metadata.wave)].sort(([a], [b]) => a - b);
  return waves.flatMap(([wave, members]) => [
    `### Wave ${wave} (${members.length === 1 ? "1 task" : `${members.length} parallel tasks`})`,
    fenced([members.map(({ id, subject, metadata }) => plain(`${id}: ${subject} -> ${metadata.agent}`))]),
  ]);
}

/** What was not said is left out. */
function recordLines(task: PlanTask): readonly string[] {
  const { blockedBy: _, ...fields } = task;
  const lines = RECORD_FIELDS.flatMap((key) =>
    fields[key] === undefined ? [] : [`  ${key}: ${jsonLine(fields[key])}`],
  );
  return ["TaskCreate:", ...lines];
}

const RECORD_FIELDS = [
  "id",
  "subject",
  "description",
  "activeForm",
  "scope",
  "reads",
  "delivers",
  "requirements",
  "success_criterion",
  "priority",
  "branch",
  "needs",
  "estimate",
  "metadata",
] as const satisfies readonly (keyof PlanTask)[];

const dependencyLines = ({ id, blockedBy }: PlanTask): readonly string[] => [
  "TaskUpdate:",
  `  taskId: ${jsonLine(id)}`,
  `  addBlockedBy: ${jsonLine(blockedBy)}`,
];

/** Every line in it begins with words of ours, or has a colon in it: none can close the fence. */
const fenced = (blocks: readonly (readonly string[])[]): string =>
  blocks.length === 0 ? NONE : `\`\`\`text\n${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n\`\`\``;
