/** What does one task of a plan file say, in our names or in others'? What it leaves out is derived. */
import { AGENT } from "../../core/plan-answer.ts";
import type { Delivers } from "../../core/task.ts";
import { AGENT_PREFIX, type Estimate, GENERAL_PURPOSE, type PlanTask, SCRATCHPAD } from "../plan.ts";
import { activeFormOf, subjectOf } from "../wording.ts";
import { oneFor, type TaskField, type WrittenTask, writtenFor } from "./foreign-fields.ts";
import { outputNameIn } from "./output-name.ts";
import { foundIn, isFields, type Report } from "./place.ts";
import {
  commandOf,
  ID_RULE,
  idOf,
  idsOf,
  lineOf,
  linesOf,
  pathsOf,
  shown,
  textOf,
  wholeOf,
} from "./read-value.ts";

export type TaskOptions = {
  readonly scratchpad?: string;
  readonly readOnlyAgents: ReadonlySet<string>;
};

/** A task without what only all of them together say: its wave, and those that name it from their side. */
export type ReadTask = {
  readonly written: WrittenTask;
  /** Undefined: it has none, and gets a number. */
  readonly id?: string;
  readonly blockedBy: readonly string[];
  /** Ids of tasks that wait for it. */
  readonly blocks: readonly string[];
  readonly rest: Omit<PlanTask, "id" | "blockedBy" | "metadata">;
  readonly metadata: Omit<PlanTask["metadata"], "wave" | "phase_id" | "parallel">;
};

/** A field that is refused is left out, and the others are read on, to say all at once. */
export function readTask(written: WrittenTask, options: TaskOptions, report: Report): ReadTask {
  const id = readId(written, report);
  const { subject, description } = readWords(written, report);
  const scope = pathsOf(writtenFor(written, "scope"), report);
  const agent = readAgent(written, report);
  const metadata = readMetadata(written, options, report);
  return {
    written,
    ...(id !== undefined && { id }),
    blockedBy: idsFor(written, "blockedBy", report),
    blocks: idsFor(written, "blocks", report),
    rest: {
      subject,
      description,
      activeForm: readActiveForm(written, subject, report),
      scope,
      reads: pathsOf(writtenFor(written, "reads"), report),
      delivers: readDelivers(
        written,
        { subject, scope, isReader: options.readOnlyAgents.has(agent) },
        report,
      ),
      requirements: writtenFor(written, "requirements").flatMap((found) => linesOf(found, report)),
      ...readOptional(written, report),
    },
    metadata: { agent, ...metadata },
  };
}

/** What a `TaskUpdate` says of a task. */
export type Update = {
  readonly at: string;
  readonly id: string;
  readonly blockedBy: readonly string[];
  readonly blocks: readonly string[];
};

export const readUpdate = (written: WrittenTask, report: Report): Update => ({
  at: written.path,
  id: readId(written, report) ?? "",
  blockedBy: idsFor(written, "blockedBy", report),
  blocks: idsFor(written, "blocks", report),
});

/** `phase_id` is the same thing, and all that a `TaskCreate` has. */
function readId(written: WrittenTask, report: Report): string | undefined {
  const own = oneFor(written, "id", report);
  const phase = oneFor(written, "phase_id", report);
  const found = own ?? phase;
  if (found === undefined) return undefined;
  const id = idOf(found.value);
  if (id === undefined) report.refuse(found.at, `${shown(found.value)} is no id`, `an id has ${ID_RULE}`);
  else if (typeof found.value === "number") report.note(found.at, "was a number and is kept as text");
  if (own && phase && idOf(phase.value) !== id)
    report.note(phase.at, "was not read: the id says it already, and otherwise");
  return id ?? "";
}

const MAX_SUBJECT_CHARS = 1_000;
/** A title has to fit on one line. */
const MAX_MADE_SUBJECT_CHARS = 80;

/** One is made of the other where only one is there. */
function readWords(written: WrittenTask, report: Report): Pick<PlanTask, "subject" | "description"> {
  const [subject, description] = [oneFor(written, "subject", report), oneFor(written, "description", report)];
  const title = subject && lineOf(subject, report, MAX_SUBJECT_CHARS);
  const text = description && textOf(description, report);
  if (title === undefined && text === undefined)
    report.refuse(written.path, "has no subject and no description", "say what is to be done");
  return { subject: title ?? titleOf(text ?? ""), description: text ?? title ?? "" };
}

/** The first sentence of the first line. */
function titleOf(description: string): string {
  const line = description.split("\n", 1)[0]!;
  const stop = /[.!?](?=\s)/.exec(line);
  return subjectOf(stop ? line.slice(0, stop.index) : line, MAX_MADE_SUBJECT_CHARS) || "Task";
}

function readActiveForm(written: WrittenTask, subject: string, report: Report): string {
  const found = oneFor(written, "activeForm", report);
  if (found) return lineOf(found, report, MAX_SUBJECT_CHARS);
  const verb = firstWord(subject);
  return activeFormOf(subject, READING_VERBS.has(verb) || OTHER_VERBS.has(verb));
}

const firstWord = (subject: string) => /^[A-Za-z]+/.exec(subject)?.[0].toLowerCase() ?? "";

const wordsOf = (words: string): ReadonlySet<string> => new Set(words.split(" "));

/** Who does this and has no file to change makes a report. */
const READING_VERBS = wordsOf(
  "review analyse analyze summarise summarize report audit assess evaluate examine explore inspect investigate " +
    "research understand compare list scan catalog catalogue verify validate check survey study identify find",
);

/** Only for the words of who watches. */
const OTHER_VERBS = wordsOf(
  "add adjust adopt align allow annotate append apply archive avoid backfill benchmark build bump cache change " +
    "clean close collect combine compute configure connect consolidate convert copy count create cut debug " +
    "declare decouple delete deploy deprecate design detect disable display do document draft drop dump enable " +
    "encode ensure expand export expose extend extract fetch fill filter finish fix flatten format generate get " +
    "guard handle harden hide implement import improve increase inline insert install integrate introduce isolate " +
    "keep limit link load localise localize lock log lower make map mark measure merge migrate mock modernise " +
    "modernize move name normalise normalize open optimise optimize organise organize package parse patch persist " +
    "pin plan polish port prepare prevent profile protect provide publish push put raise read rebuild record " +
    "redesign reduce refactor register release remove rename render reorganise reorganize replace reset resolve " +
    "restore restructure retry return reuse revert rewrite rotate run save schedule secure select send separate " +
    "serve set setup ship show simplify sort speed split start stop store stream strip style support swap switch " +
    "sync tag teach test tidy tighten track transform translate trim tune turn unify update upgrade use wire wrap " +
    "write",
);

/** As written; else a report only where nothing says that a file changes. */
function readDelivers(
  written: WrittenTask,
  task: { readonly subject: string; readonly scope: readonly string[]; readonly isReader: boolean },
  report: Report,
): Delivers {
  const found = oneFor(written, "delivers", report);
  if (found === undefined) {
    const reads = task.isReader || READING_VERBS.has(firstWord(task.subject));
    return task.scope.length === 0 && reads ? "report" : "change";
  }
  if (found.value !== "change" && found.value !== "report")
    report.refuse(found.at, 'must be "change" or "report"');
  return found.value === "report" ? "report" : "change";
}

const idsFor = (written: WrittenTask, field: TaskField, report: Report): readonly string[] => [
  ...new Set(writtenFor(written, field).flatMap((found) => idsOf(found, report))),
];

function readAgent(written: WrittenTask, report: Report): string {
  const found = oneFor(written, "agent", report);
  if (found === undefined) return GENERAL_PURPOSE;
  const name = typeof found.value === "string" ? found.value.trim().replace(AGENT_PREFIX, "") : "";
  if (!AGENT.test(name)) report.refuse(found.at, `${shown(found.value)} is no name of an agent`);
  return name === "main" ? GENERAL_PURPOSE : name;
}

type Optional = Pick<PlanTask, "success_criterion" | "priority" | "branch" | "estimate">;

function readOptional(written: WrittenTask, report: Report): Optional {
  const criterion = commandOf(writtenFor(written, "success_criterion"), report);
  const priority = readPriority(written, report);
  const branch = oneFor(written, "branch", report);
  const estimate = readEstimate(written, report);
  return {
    ...(criterion !== undefined && { success_criterion: criterion }),
    ...(priority !== undefined && { priority }),
    ...(branch && { branch: lineOf(branch, report, MAX_SUBJECT_CHARS) }),
    ...(estimate && { estimate }),
  };
}

const LEAST_URGENT = 10;
const URGENCY: ReadonlyMap<unknown, number> = new Map([
  ...([
    ["critical", 1],
    ["high", 2],
    ["medium", 5],
    ["normal", 5],
    ["low", 8],
  ] as const),
]);

function readPriority(written: WrittenTask, report: Report): number | undefined {
  const found = oneFor(written, "priority", report);
  if (found === undefined) return undefined;
  const word = typeof found.value === "string" ? URGENCY.get(found.value.trim().toLowerCase()) : undefined;
  if (word !== undefined) report.note(found.at, "was a word and is kept as a number");
  return word ?? wholeOf(found, [1, LEAST_URGENT], report);
}

const AMOUNTS = ["minutes", "tokens", "dollars"] as const;
/** More minutes than anybody waits, and more tokens than anybody pays for. */
const MAX_AMOUNT = 1e12;

function readEstimate(written: WrittenTask, report: Report): Estimate | undefined {
  const found = oneFor(written, "estimate", report);
  if (found === undefined) return undefined;
  const { at, value } = found;
  if (!isFields(value)) {
    report.refuse(at, `must be an object with ${AMOUNTS.join(", ")}`);
    return undefined;
  }
  report.noteUnknown(value, at, new Set(AMOUNTS));
  return Object.fromEntries(
    AMOUNTS.flatMap((name) => {
      const amount = foundIn(value, at, name);
      if (amount === undefined) return [];
      if (isAmount(amount.value)) return [[name, amount.value]];
      report.refuse(amount.at, `must be a number from 0 to ${MAX_AMOUNT}`);
      return [];
    }),
  );
}

const isAmount = (value: unknown) => typeof value === "number" && value >= 0 && value <= MAX_AMOUNT;

type OwnMetadata = Omit<ReadTask["metadata"], "agent">;
const MAX_DEPTH = 100;
const MAX_NAME_CHARS = 200;

function readMetadata(written: WrittenTask, { scratchpad }: TaskOptions, report: Report): OwnMetadata {
  const depth = oneFor(written, "depth", report);
  const parent = oneFor(written, "parent_id", report);
  const output = oneFor(written, "output_file", report);
  const name =
    output && (typeof output.value === "string" ? outputNameIn(output.value, scratchpad) : NO_TEXT);
  if (name && "problem" in name) report.refuse(output!.at, name.problem, name.next);
  return {
    depth: (depth && wholeOf(depth, [1, MAX_DEPTH], report)) ?? 1,
    ...(parent && { parent_id: lineOf({ ...parent, value: `${parent.value}` }, report, MAX_NAME_CHARS) }),
    ...(name && "name" in name && { output_file: `${SCRATCHPAD}/${name.name}` }),
  };
}

const NO_TEXT = { problem: "must be text", next: `write ${SCRATCHPAD}/ and a file name` };
