/** What does a plan's markdown say, before it is checked? A value as in a plan file, and the lines of its parts. */
import type { PlanProblem } from "../files/place.ts";
import { NONE, unescaped } from "./escape.ts";
import type { Label } from "./markdown.ts";
import {
  type Block,
  blocksOf,
  type Item,
  itemsOf,
  problemAt,
  type Section,
  type Sections,
  strayAt,
  textOf,
} from "./markdown-sections.ts";

/** The plan as a value that is not checked yet, and the lines of its parts, by their places in it. */
type Draft = {
  readonly value: Readonly<Record<string, unknown>>;
  readonly numbers: ReadonlyMap<string, number>;
  readonly problems: readonly PlanProblem[];
};

export function draftOf(sections: Sections): Draft {
  const problems = [...sections.problems];
  const numbers = new Map<string, number>();
  const at = <T>(label: Label, read: (section: Section) => T): T | undefined => {
    const section = sections.byLabel.get(label);
    return section && read(section);
  };
  const items = (section: Section) => itemsOf(section, problems);
  const list = (place: string) => (section: Section) => {
    numbers.set(place, section.number);
    return texts(items(section), place, { numbers, problems });
  };
  const value = {
    skein_plan: at("Plan Format", number) ?? 1,
    goal: at("Goal", textOf),
    planner: at("Planner", textOf),
    max_concurrent: at("Max Concurrent", number),
    score: at("Score", (section) => scoreOf(section, problems)),
    success_criteria: at("Success Criteria", list("success_criteria")) ?? [],
    assumptions: at("Assumptions", list("assumptions")) ?? [],
    questions: at("Questions", (section) => questionsOf(items(section), { numbers, problems })) ?? [],
    context: at("Relevant Context", (section) => contextOf(items(section), { numbers, problems })),
    tasks: tasksOf(sections, { numbers, problems }),
    risks: at("Risks", list("risks")) ?? [],
  };
  for (const [place, label] of Object.entries(VALUES)) {
    const section = sections.byLabel.get(label);
    if (section) numbers.set(place, section.number);
  }
  return { value, numbers, problems };
}

const VALUES: Readonly<Record<string, Label>> = {
  skein_plan: "Plan Format",
  goal: "Goal",
  planner: "Planner",
  max_concurrent: "Max Concurrent",
  score: "Score",
  questions: "Questions",
  context: "Relevant Context",
  tasks: "Task Records",
};

/** What is found on the way, besides the value. */
type Findings = { readonly numbers: Map<string, number>; readonly problems: PlanProblem[] };

/** What is no number stays a text, for the reader to refuse. */
function number(section: Section): number | string {
  const text = textOf(section);
  return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}

function texts(items: readonly Item[], place: string, { numbers, problems }: Findings): readonly string[] {
  for (const [index, { number, parts }] of items.entries()) {
    numbers.set(`${place}[${index}]`, number);
    for (const part of parts) problems.push(strayAt(part.number));
  }
  return items.map(({ text }) => unescaped(text));
}

const SCORE =
  /^(\S+) \(tier (\S+), minimum depth (\S+); verbs (\S+), connectors (\S+), domain (\S+), scope (\S+), risk (\S+)\)$/;

function scoreOf(section: Section, problems: PlanProblem[]): unknown {
  const found = SCORE.exec(textOf(section));
  if (!found) {
    const form = "7 (tier 2, minimum depth 2; verbs 2, connectors 1, domain 0, scope 3, risk 0)";
    problems.push(
      problemAt(section.number, "the score is not written as it should be", `write it as ${form}`),
    );
    return undefined;
  }
  const [total, tier, min_depth, verbs, connectors, domain, scope, risk] = found.slice(1).map(Number);
  return { total, tier, min_depth, verbs, connectors, domain, scope, risk };
}

function questionsOf(items: readonly Item[], { numbers, problems }: Findings): readonly unknown[] {
  return items.map(({ text, number, parts }, index) => {
    numbers.set(`questions[${index}]`, number);
    const fields = keyed(parts, QUESTION_KEYS, problems);
    const blocking = fields.get("Blocking")?.text.trim();
    return {
      id: said(fields.get("Name")),
      question: unescaped(text),
      default: said(fields.get("Default")),
      blocking: blocking === "yes" ? true : blocking === "no" ? false : blocking,
    };
  });
}

const QUESTION_KEYS = ["Name", "Default", "Blocking"] as const;
const said = (item: Item | undefined): string | undefined => item && unescaped(item.text);

const CONTEXT_KEYS = ["Files", "Patterns to follow", "Tests"] as const;

function contextOf(items: readonly Item[], findings: Findings): unknown {
  const fields = keyed(items, CONTEXT_KEYS, findings.problems);
  const [files, patterns, tests] = CONTEXT_KEYS.map((key, index) => {
    const item = fields.get(key);
    if (!item) return [];
    const own = item.text === "" || item.text === NONE ? [] : [{ ...item, parts: [] }];
    return texts([...own, ...item.parts], `context.${["files", "patterns", "tests"][index]}`, findings);
  });
  return { files, patterns, tests };
}

/** "Name: …" by its name. */
function keyed<K extends string>(
  items: readonly Item[],
  keys: readonly K[],
  problems: PlanProblem[],
): ReadonlyMap<K, Item> {
  const found = new Map<K, Item>();
  for (const item of items) {
    const key = keys.find((one) => item.text === `${one}:` || item.text.startsWith(`${one}: `));
    if (key === undefined)
      problems.push(problemAt(item.number, `begin it with one of ${keys.join(", ")}, and a colon`));
    else if (found.has(key)) problems.push(problemAt(item.number, `"${key}" appears twice`));
    else found.set(key, { ...item, text: item.text.slice(key.length + 1).trim() });
  }
  return found;
}

/** The records, each with what the dependencies say of it. */
function tasksOf({ byLabel }: Sections, findings: Findings): readonly unknown[] {
  const blocks = (["Task Records", "Dependencies"] as const).flatMap((label) => {
    const section = byLabel.get(label);
    return section ? blocksOf(section, findings.problems) : [];
  });
  const records = blocks.filter(({ kind }) => kind === "TaskCreate");
  const before = dependenciesOf(blocks, records, findings.problems);
  return records.map((record, index) => {
    const place = `tasks[${index}]`;
    findings.numbers.set(place, record.number);
    for (const [key, { number }] of record.fields) findings.numbers.set(`${place}.${key}`, number);
    const fields = [...record.fields].map(([key, { value }]) => [key, value]);
    const waits = before.get(record);
    return Object.fromEntries(waits ? [...fields, ["blockedBy", waits]] : fields);
  });
}

function dependenciesOf(
  blocks: readonly Block[],
  records: readonly Block[],
  problems: PlanProblem[],
): ReadonlyMap<Block, readonly unknown[]> {
  const byId = new Map<unknown, Block>();
  const before = new Map<Block, unknown[]>();
  for (const record of records) {
    const id = record.fields.get("id")?.value;
    if (!byId.has(id)) byId.set(id, record);
    const own = record.fields.get("blockedBy")?.value;
    before.set(record, Array.isArray(own) ? [...own] : []);
  }
  for (const { kind, number, fields } of blocks) {
    if (kind !== "TaskUpdate") continue;
    const record = byId.get(fields.get("taskId")?.value);
    const added = fields.get("addBlockedBy")?.value;
    if (!fields.has("taskId") || !record)
      problems.push(problemAt(number, '"taskId" names no task of the plan'));
    else if (!Array.isArray(added)) problems.push(problemAt(number, '"addBlockedBy" must be a list of ids'));
    else for (const one of added) before.get(record)!.push(one);
  }
  return before;
}
