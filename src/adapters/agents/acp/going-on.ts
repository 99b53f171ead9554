/** What is retold of a conversation that an agent does not remember, and how is it told of its ways to call? */
import type { Entry } from "../conversation.ts";

/** Oldest first; its end, if it is long. */
export const retold = (entries: readonly Entry[]): string => lastPart(entries.map(wordsOf).join("\n\n"));

const wordsOf = (entry: Entry): string => {
  switch (entry.is) {
    case "call":
      return `${entry.words?.trim() ?? ""}\n[You called ${entry.tool}: ${JSON.stringify(entry.input)}]`.trim();
    case "response":
      return `[${entry.name}, ${entry.result.status}] ${entry.result.content}`;
    case "answer":
      return entry.text;
  }
};

/** The last of it counts most. Some 10,000 tokens. */
const MAX_RETOLD_CHARS = 40_000;

function lastPart(text: string): string {
  const left = text.length - MAX_RETOLD_CHARS;
  return left <= 0
    ? text
    : `[${left} characters before this are left out]\n${text.slice(left).toWellFormed()}`;
}

/** Said to who begins: some agents have no use for MCP servers, but run commands. */
export const callsText = (hasTools: boolean): string =>
  [
    hasTools
      ? "You have two tools of the MCP server `skein`: `spawn_subtask` hands a part of this task to another worker, `ask` " +
        "asks a question."
      : 'You can hand a part of this task to another worker by the command `"$SKEIN" subtask spawn <type> "<what to do>"`, ' +
        'and ask a question by `"$SKEIN" ask "<question>" --default "<answer>"`.',
    "Either ends your turn: after such a call do and say nothing more, also no handoff. You are prompted again with the",
    "result. Most tasks need neither.",
  ].join(" ");

/** The last of what an agent writes, for a session that can only be retold. */
export class Tail {
  #text = "";

  add(text: string): void {
    const all = this.#text + text;
    this.#text = all.length > 2 * MAX_TAIL_CHARS ? all.slice(-MAX_TAIL_CHARS) : all;
  }

  get text(): string {
    return this.#text.slice(-MAX_TAIL_CHARS).toWellFormed();
  }
}

const MAX_TAIL_CHARS = 20_000;
