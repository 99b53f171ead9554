/** How is a plan drawn? As a flowchart for mermaid: a box for each wave, an arrow for each dependency. */

import type { ExecutionPlan, PlanTask } from "../plan.ts";
import { criticalPath } from "../waves.ts";

const MAX_SUBJECT = 60;
const MAX_NAME = 40;

/** Nodes are named by their place in the plan; what a task is called stands only in quoted labels. */
export function renderMermaid(plan: ExecutionPlan): string {
  const nodes = new Map<string, string>();
  for (const [index, { id }] of plan.tasks.entries()) if (!nodes.has(id)) nodes.set(id, `t${index}`);
  const waves = Map.groupBy(plan.tasks.entries(), ([, { metadata }]) => metadata.wave);
  const critical = criticalPath(plan).map((id) => nodes.get(id)!);
  const lines = [
    "flowchart LR",
    ...[...waves].sort(([a], [b]) => a - b).flatMap(([wave, tasks], at) => subgraph(at, wave, tasks)),
    ...plan.tasks.flatMap((task, index) => edges(task, `t${index}`, nodes)),
    // Without a hash: mermaid takes the end off a line in which one stands after a colon.
    "  classDef critical stroke:crimson,stroke-width:3px",
    ...(critical.length > 0 ? [`  class ${critical.join(",")} critical`] : []),
  ];
  return `${lines.join("\n")}\n`;
}

const subgraph = (at: number, wave: number, tasks: readonly (readonly [number, PlanTask])[]) => [
  `  subgraph w${at}["Wave ${label(String(wave), MAX_NAME)}"]`,
  ...tasks.map(([index, task]) => `    t${index}["${labelOf(task)}"]`),
  "  end",
];

const labelOf = ({ id, subject, metadata }: PlanTask): string =>
  `${label(id, MAX_NAME)}<br/>${label(subject, MAX_SUBJECT)}<br/>${label(metadata.agent, MAX_NAME)}`;

function edges({ blockedBy }: PlanTask, node: string, nodes: ReadonlyMap<string, string>): readonly string[] {
  const before = [...new Set(blockedBy)].flatMap((id) => nodes.get(id) ?? []);
  return before.map((one) => `  ${one} --> ${node}`);
}

/**
 * Letters and digits stay, and what joins them inside a word; everything else becomes its number, which mermaid
 * shows as the character: quotes, brackets, hashes, list marks, directives ("%%{"). The word "end" ends a
 * subgraph in some versions, even in quotes.
 */
function label(text: string, max: number): string {
  const seen = text
    .slice(0, max * 4)
    .replace(/[\p{C}\s]+/gu, " ")
    .trim();
  const all = [...seen];
  const kept = all.length <= max ? all : [...all.slice(0, max - 1), "…"];
  return kept
    .join("")
    .replace(/[^\p{L}\p{N}\p{M} ]/gu, (one, at: number, whole: string) =>
      JOINING.test(whole.slice(at - 1, at + 2)) ? one : `#${one.codePointAt(0)};`,
    )
    .replace(/\bend\b/gi, (word) => `${word.slice(0, 2)}#${word.charCodeAt(2)};`);
}

const JOINING = /^[A-Za-z0-9][._,/-][A-Za-z0-9]$/;
