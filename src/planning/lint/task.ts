/** Checks one task of a plan: whether it says what to do, is small enough, and suits its agent. */
import { closest } from "../../text/closest.ts";
import { quoted } from "../../text/lines.ts";
import { outputNameIn } from "../files/output-name.ts";
import { error, type Finding, warning } from "../files/place.ts";
import { AGENT_PREFIX, GENERAL_PURPOSE, type PlanTask } from "../plan.ts";
import { saysToWrite } from "../wording.ts";

export type AgentFact = { readonly name: string; readonly isReadOnly: boolean };

/** The most files that one task may change and read. */
export type TaskLimits = { readonly maxFilesModified: number; readonly maxFilesRead: number };

type TaskJudge = (task: PlanTask, path: string) => readonly Finding[];

/** One judge per plan, called for each task in order: it remembers the names of output files. */
export function taskJudge(agents: readonly AgentFact[] | undefined, limits: TaskLimits): TaskJudge {
  const known = agents && new Map(agents.map((agent) => [agent.name, agent]));
  const outputs = new Map<string, string>();
  return (task, path) => [
    ...wordFindings(task, path),
    ...agentFindings(task, path, known),
    ...outputFindings(task, path, outputs),
    ...sizeFindings(task, path, limits),
    ...compressedWords(task, path),
  ];
}

const wordFindings = (task: PlanTask, path: string): readonly Finding[] =>
  (["subject", "description"] as const).flatMap((key) =>
    task[key].trim() === "" ? [error(`${path}.${key}`, "is empty", "say what should be done")] : [],
  );

type Known = ReadonlyMap<string, AgentFact>;

/** The cheapest read-only agent: it has no tool to write with. */
const EXPLORE = "Explore";

function agentFindings(
  { delivers, description, metadata }: PlanTask,
  path: string,
  known: Known | undefined,
): readonly Finding[] {
  const name = metadata.agent.replace(AGENT_PREFIX, "");
  if (known === undefined || name === GENERAL_PURPOSE || name === "main") return [];
  const place = `${path}.metadata.agent`;
  const agent = known.get(name);
  if (agent === undefined) {
    const [near] = closest(name, [...known.keys(), GENERAL_PURPOSE]);
    const hint = near === undefined ? "an ordinary worker does it" : `did you mean ${near}?`;
    return [warning(place, `there is no agent ${quoted(name)}`, hint)];
  }
  if (!agent.isReadOnly) return [];
  const instead = `use ${GENERAL_PURPOSE}`;
  const writes = metadata.output_file !== undefined;
  return [
    ...(delivers === "change"
      ? [error(place, `${name} changes nothing, and this task is a change`, instead)]
      : []),
    ...(writes ? [error(place, `${name} writes nothing, and this task has an output file`, instead)] : []),
    ...(name === EXPLORE && delivers === "report" && saysToWrite(description)
      ? [error(place, `${name} writes nothing, and the description says to`, instead)]
      : []),
  ];
}

/** Compares names without upper and lower case, because some file systems do. */
function outputFindings(
  { id, metadata }: PlanTask,
  path: string,
  outputs: Map<string, string>,
): readonly Finding[] {
  if (metadata.output_file === undefined) return [];
  const place = `${path}.metadata.output_file`;
  const read = outputNameIn(metadata.output_file);
  if ("problem" in read) return [error(place, read.problem, read.next)];
  const key = read.name.toLowerCase().normalize();
  const other = outputs.get(key);
  if (other === undefined) outputs.set(key, id);
  else
    return [error(place, `task "${other}" has the output file ${read.name}, too`, "give each its own name")];
  return [];
}

function sizeFindings({ scope, reads }: PlanTask, path: string, limits: TaskLimits): readonly Finding[] {
  const over = (key: string, count: number, max: number, verb: string) =>
    count > max
      ? [warning(`${path}.${key}`, `${verb} ${count} files, more than ${max}`, "split the task")]
      : [];
  return [
    ...over("scope", scope.length, limits.maxFilesModified, "changes"),
    ...over("reads", reads.length, limits.maxFilesRead, "reads"),
  ];
}

/** Only warnings: what looks like a range of tasks may be a range of pages. */
function compressedWords(task: PlanTask, path: string): readonly Finding[] {
  return [
    ...shortForms(task.subject, `${path}.subject`),
    ...shortForms(task.description, `${path}.description`),
    ...bareCount(task, `${path}.subject`),
  ];
}

/** Long texts have such words at the beginning, if at all. */
const MAX_READ_CHARS = 10_000;

const RANGE =
  /\b(?:sub)?(?:task|step|phase|item|wave)s?\s{1,4}#?\d{1,6}\s?(?:-|–|—|\.\.|\bto\b|\bthrough\b)\s?#?\d{1,6}\b/i;
const ONLY_RANGE = /^#?\d{1,6}\s?[-–—]\s?#?\d{1,6}$/;
const SUM = /\b(?:task|step|phase)[ _-]?#?\d{1,6}\s?\+\s?(?:(?:task|step|phase)[ _-]?)?#?\d{1,6}\b/i;
const WILDCARD = /\broot(?:\.\d{1,6}){0,20}\.\*/i;
const FORMS = [
  ["a range", RANGE],
  ["a range", ONLY_RANGE],
  ["a sum", SUM],
  ["a wildcard", WILDCARD],
] as const;

function shortForms(text: string, place: string): readonly Finding[] {
  const read = text.slice(0, MAX_READ_CHARS);
  const found = FORMS.flatMap(([name, pattern]) => {
    const match = pattern.exec(read)?.[0];
    return match === undefined ? [] : [warning(place, `"${match}" is ${name}`, "name each one by itself")];
  });
  return found.slice(0, 1);
}

/** A count directly after the verb, with nothing else: "Write 4 test files", "16 agent files in agents/". */
const COUNT =
  /^(?:\p{L}{1,20} )?(?:all |the )?(\d{1,4}) (?:[\p{L}-]{1,30} ){0,2}files(?= (?:in|from|of|under) |$)/iu;
const FILE_NAME = /[\w-]{1,60}\.[A-Za-z]\w{0,7}\b/g;

function bareCount({ subject, description, scope, reads }: PlanTask, place: string): readonly Finding[] {
  const count = COUNT.exec(subject);
  if (count === null) return [];
  const named = [...scope, ...reads];
  if (named.some((path) => path.endsWith("/"))) return [];
  const inText = new Set(description.slice(0, MAX_READ_CHARS).match(FILE_NAME));
  const isNamed = Math.max(named.length, inText.size) >= Number(count[1]);
  const message = `"${count[0]}" does not say which`;
  return isNamed ? [] : [warning(place, message, "name each file in the description, in scope or in reads")];
}
