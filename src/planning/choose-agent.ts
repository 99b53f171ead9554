/** Chooses the specialist for a task of a plan: the one whose keywords it mentions most, if that agent may do it. */
import type { Specialist } from "../core/specialist.ts";
import { read } from "../delegation/keywords.ts";
import { type Counted, counted, mostMentioned } from "../delegation/roster.ts";
import { AGENT_PREFIX, GENERAL_PURPOSE } from "./plan.ts";
import type { Draft } from "./turns.ts";
import { saysToWrite } from "./wording.ts";

export type AgentRow = Pick<Specialist, "name" | "keywords" | "isReadOnly" | "decides">;

type Chosen = {
  readonly agent: string;
  /** The result goes to a file, which a read-only agent cannot write. */
  readonly hasOutput: boolean;
};

/** Called once per plan: building the table takes longer than a choice. */
export function chooserOf(rows: readonly AgentRow[], prefix = ""): (draft: Draft) => Chosen {
  const all = rows.map(({ name, keywords }) =>
    counted({ subagent: withoutPrefix(name), keywords: [...keywords] }),
  );
  const readers = new Set(rows.filter(({ isReadOnly }) => isReadOnly).map(({ name }) => withoutPrefix(name)));
  const writers = all.filter(({ subagent }) => !readers.has(subagent));
  const deciders = new Set(rows.filter(decides).map(({ name }) => withoutPrefix(name)));
  const builders = writers.filter(({ subagent }) => !deciders.has(subagent));
  return (draft) => {
    const agent = nameFor(draft, { all, writers, builders });
    return { agent: `${prefix}${agent}`, hasOutput: !readers.has(agent) };
  };
}

/** `builders`: the writers whose role is not to decide or to judge. */
type Roster = Readonly<Record<"all" | "writers" | "builders", readonly Counted[]>>;

/** Taken from the agent's row; for a user's own role, from its name. */
const decides = ({ name, decides: said }: AgentRow): boolean =>
  said ?? /(?:architect|reviewer|planner|auditor|analyst|critic|advisor|strategist)$/i.test(name);

/** Looks only at the task's own words: the whole request around them mentions the other tasks too. */
function nameFor(draft: Draft, { all, writers, builders }: Roster): string {
  const roster = draft.delivers === "change" ? builders : isForReaders(draft) ? all : writers;
  const said = `${draft.subject}\n${draft.words}`.replace(EXPLAINED, "");
  return mostMentioned(roster, read(said))?.subagent ?? GENERAL_PURPOSE;
}

/**
 * Words in brackets explain a thing and do not say what is to be done: "A README (what it is, install, an example)".
 */
const EXPLAINED = /\([^()\n]*(?:\)|…$)/gm;

/** Read-only agents get no task that must write: no change, and no file that another task reads. */
const isForReaders = ({ delivers, isCollected, subject, description }: Draft) =>
  delivers === "report" && !isCollected && !saysToWrite(subject) && !saysToWrite(description);

const withoutPrefix = (name: string): string =>
  name.startsWith(AGENT_PREFIX) ? name.slice(AGENT_PREFIX.length) : name;
