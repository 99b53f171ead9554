/** Which specialist gets a task of a plan? The one whose keywords it speaks of most, if it can do what is asked. */
import type { Specialist } from "../core/specialist.ts";
import { read } from "../delegation/keywords.ts";
import { type Counted, counted, mostMentioned } from "../delegation/roster.ts";
import { AGENT_PREFIX, GENERAL_PURPOSE } from "./plan.ts";
import type { Draft } from "./turns.ts";
import { saysToWrite } from "./wording.ts";

export type AgentRow = Pick<Specialist, "name" | "keywords" | "isReadOnly">;

type Chosen = {
  readonly agent: string;
  /** Its result goes to a file; a read-only agent cannot write one. */
  readonly hasOutput: boolean;
};

/** Once for all tasks of a plan: to make the table takes longer than a choice. */
export function chooserOf(rows: readonly AgentRow[], prefix = ""): (draft: Draft) => Chosen {
  const all = rows.map(({ name, keywords }) =>
    counted({ subagent: withoutPrefix(name), keywords: [...keywords] }),
  );
  const readers = new Set(rows.filter(({ isReadOnly }) => isReadOnly).map(({ name }) => withoutPrefix(name)));
  const writers = all.filter(({ subagent }) => !readers.has(subagent));
  return (draft) => {
    const agent = nameFor(draft, { all, writers });
    return { agent: `${prefix}${agent}`, hasOutput: !readers.has(agent) };
  };
}

type Roster = { readonly all: readonly Counted[]; readonly writers: readonly Counted[] };

/** By its own words: the whole request around them speaks of the other tasks, too. */
function nameFor(draft: Draft, { all, writers }: Roster): string {
  const roster = isForReaders(draft) ? all : writers;
  return mostMentioned(roster, read(`${draft.subject}\n${draft.words}`))?.subagent ?? GENERAL_PURPOSE;
}

/** Read-only agents get no task that must write: no change, no file that another task reads. */
const isForReaders = ({ delivers, isCollected, subject, description }: Draft) =>
  delivers === "report" && !isCollected && !saysToWrite(subject) && !saysToWrite(description);

const withoutPrefix = (name: string): string =>
  name.startsWith(AGENT_PREFIX) ? name.slice(AGENT_PREFIX.length) : name;
