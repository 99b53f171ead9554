/** Chooses the role of a worker: the specialist that the planner named, else the one with most keywords in the task. */

import type { Specialist } from "../core/specialist.ts";
import type { TaskSpec } from "../core/task.ts";
import { quoted } from "../text/lines.ts";
import { DEFAULT_SUBAGENT } from "./heuristics.ts";
import { read } from "./keywords.ts";
import { counted, mentioned, mostMentioned } from "./roster.ts";

/** Without a specialist the worker has no special role. `why` is for people. */
type Choice = {
  readonly specialist?: Specialist;
  readonly why: string;
  /** The problem with the name that the planner gave, for the planner. */
  readonly problem?: string;
};

/** `specialists` are in the order that decides between equal ones: see `withBuiltIn`. */
export function chooseSpecialist(
  spec: Pick<TaskSpec, "agent" | "delivers" | "description" | "repairs">,
  specialists: readonly Specialist[],
): Choice {
  const named = bareName(spec.agent ?? "");
  if (named === "") return byRule(spec, specialists);
  if (NOBODY.includes(named.toLowerCase()))
    return { why: `the planner named ${spec.agent}, which is no special role` };
  const found = findByName(named, specialists);
  const wrong = found ? unfitFor(found, spec) : "is not known";
  if (found && wrong === undefined) return { specialist: found, why: "the planner named it" };
  const { specialist, why } = byRule(spec, specialists);
  const problem = `the planner named ${quoted(named)}, which ${wrong}`;
  return { ...(specialist && { specialist }), why: `${problem}; ${why}`, problem };
}

/** Both names are in use for a worker without a role. */
const NOBODY: readonly string[] = [DEFAULT_SUBAGENT, "general-purpose"];

const bareName = (name: string) => name.trim().replace(/^workflow-orchestrator:/i, "");

const findByName = (name: string, specialists: readonly Specialist[]) =>
  specialists.find((one) => one.name === name) ??
  specialists.find((one) => one.name.toLowerCase() === name.toLowerCase());

/** Words of a task that writes, whatever it claims to deliver. */
const WRITING = ["write", "create", "save", "generate", "produce", "output"];

function unfitFor(
  { name, isReadOnly }: Specialist,
  { delivers, description }: Pick<TaskSpec, "delivers" | "description">,
): string | undefined {
  if (isReadOnly && delivers !== "report") return "changes nothing, and this task is a change";
  const writing = name === "Explore" ? mentioned(WRITING, description)[0] : undefined;
  return writing === undefined ? undefined : `is only for reading, and this task says "${writing}"`;
}

function byRule(
  spec: Pick<TaskSpec, "delivers" | "description" | "repairs">,
  specialists: readonly Specialist[],
): Choice {
  // A fix task has the words of its errors, which say where it fails and not what kind of work it is.
  if (spec.repairs !== undefined) return { why: "a fix task needs no special role" };
  const fit = specialists.filter((one) => unfitFor(one, spec) === undefined);
  const roster = fit.map((one) => counted({ subagent: one.name, keywords: wordsFor(one) }));
  const name = mostMentioned(roster, read(spec.description))?.subagent;
  const specialist = fit.find((one) => one.name === name);
  if (specialist === undefined) return { why: "no specialist has two of its keywords in the task" };
  return {
    specialist,
    why: `the task speaks of ${mentioned(wordsFor(specialist), spec.description).join(", ")}`,
  };
}

/**
 * Users write few keywords, so the words of the specialist's name count as well; for "code-reviewer", one of them alone
 * would be too weak.
 */
function wordsFor({ name, keywords, source }: Specialist): readonly string[] {
  if (source === "built in") return keywords;
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length >= MIN_WORD_CHARS);
  const known = new Set(keywords.map((keyword) => keyword.toLowerCase()));
  return [...keywords, ...words.filter((word) => !known.has(word.toLowerCase()) && !EMPTY_WORDS.has(word))];
}

const MIN_WORD_CHARS = 3;
const EMPTY_WORDS: ReadonlySet<string> = new Set(["agent", "expert", "specialist", "and", "for", "the"]);
