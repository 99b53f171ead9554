/** Records a conversation with a model: one file for all turns of a planner, one for each attempt of a worker. */
import { type FileHandle, mkdir, open, rename } from "node:fs/promises";
import path from "node:path";
import type { ModelMessage } from "ai";
import type { JobId } from "../../../core/job.ts";
import { fields, parseJson } from "../../../text/json.ts";
import { redactFields } from "../../../text/redact.ts";
import { readBounded } from "../../files/read-bounded.ts";
import { estimateTokens } from "./fit.ts";
import { onlyPairs } from "./tool-pairs.ts";

type ConversationPlace = {
  readonly file: string;
  readonly job: JobId;
  /** Whether to start a new file, as for each attempt of a worker. */
  readonly isNew: boolean;
  /** The messages that a new conversation begins with; written again, so that the file is complete. */
  readonly past?: readonly ModelMessage[];
  readonly speaker?: Speaker;
  readonly redact: (text: string) => string;
  /** Above this the oldest turns are left out; each new message repeats what still counts. */
  readonly maxTokens: number;
};

/** The system prompt and model. A conversation can only be resumed unchanged if both are the same. */
export type Speaker = { readonly system: string; readonly model: string };

/** A line of the file. Each names its turn, because a turn that was given up may still be writing. */
type Line =
  /** `as` is "new" if the model was given the documents in this turn. */
  | ({ readonly is: "begun"; readonly turn: string; readonly as: "new" | "continued" } & Partial<Speaker>)
  | { readonly is: "messages"; readonly turn: string; readonly messages: readonly ModelMessage[] }
  | { readonly is: "ended"; readonly turn: string; readonly lines: number }
  /** From this line on, only the named earlier turns are sent. */
  | { readonly is: "compacted"; readonly kept: readonly string[]; readonly leftOut: number };

type Turn = Begun & {
  readonly name: string;
  /** The messages as they were sent: with reasoning, and with an unanswered call. */
  readonly messages: readonly ModelMessage[];
};

type Begun = Partial<Speaker> & { readonly as: "new" | "continued" };

export class Conversation {
  readonly past: readonly ModelMessage[];
  /** "new" also if turns were just left out or lost, because the documents were in them. */
  readonly is: "new" | "continued";
  readonly #place: ConversationPlace;
  readonly #file: FileHandle | undefined;
  #lines = 0;

  private constructor(place: ConversationPlace, file: FileHandle | undefined, loaded: Loaded) {
    this.#place = place;
    this.#file = file;
    this.past = loaded.past;
    this.is = loaded.is;
  }

  /**
   * If the file cannot be read or written, the conversation goes on without it: the next message repeats
   * everything that counts.
   */
  static async open(place: ConversationPlace): Promise<Conversation> {
    const read = place.isNew ? NONE : await readBounded(place.file, MAX_FILE_BYTES);
    try {
      await mkdir(path.dirname(place.file), { recursive: true, mode: 0o700 });
      if (read.is !== "bytes" && read.is !== "none") await rename(place.file, `${place.file}.unreadable`);
      const text = read.is === "bytes" ? read.bytes.toString() : "";
      const loaded = place.isNew ? begun(place) : await load(text, place.maxTokens);
      const conversation = new Conversation(
        place,
        await open(place.file, place.isNew ? "w" : "a", 0o600),
        loaded,
      );
      if (text !== "" && !text.endsWith("\n")) await conversation.#append("\n"); // A killed engine left half a line.
      if (loaded.compacted) await conversation.#write(loaded.compacted);
      await conversation.#write({ is: "begun", turn: place.job, as: loaded.is, ...place.speaker });
      if (place.past) await conversation.add(place.past);
      return conversation;
    } catch {
      return new Conversation(place, undefined, begun(place));
    }
  }

  async add(messages: readonly ModelMessage[]): Promise<void> {
    this.#lines += 1;
    await this.#write({ is: "messages", turn: this.#place.job, messages });
  }

  /** Marks the turn as ended. Turns without this mark are dropped by the next reader. */
  async end(): Promise<void> {
    await this.#write({ is: "ended", turn: this.#place.job, lines: this.#lines });
    await this.#file?.datasync().catch(() => {}); // A turn that a power cut loses is told again.
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  #write = (line: Line): Promise<void> =>
    this.#append(`${JSON.stringify(redactFields(line, this.#place.redact))}\n`);

  async #append(text: string): Promise<void> {
    try {
      await this.#file?.appendFile(text);
    } catch {
      // The disk is full: the turn goes on, and the next one begins anew or knows less.
    }
  }
}

const NONE = { is: "none" } as const;

/** Room for about a hundred long turns. */
const MAX_FILE_BYTES = 64_000_000;

type Loaded = {
  readonly past: readonly ModelMessage[];
  readonly is: "new" | "continued";
  readonly compacted?: Line & { readonly is: "compacted" };
};

const begun = ({ past = [] }: ConversationPlace): Loaded => ({
  past,
  is: past.length === 0 ? "new" : "continued",
});

/** The newest whole turn of a file, as it was sent except for secrets; undefined if a part of it is lost. */
export async function recall(
  file: string,
): Promise<(Partial<Speaker> & { readonly messages: readonly ModelMessage[] }) | undefined> {
  const read = await readBounded(file, MAX_FILE_BYTES);
  if (read.is !== "bytes") return undefined;
  const { modelMessageSchema } = await import("ai");
  let isWhole = true;
  const isMessage = (message: unknown) => {
    isWhole &&= modelMessageSchema.safeParse(message).success;
    return isWhole;
  };
  const last = turnsIn(read.bytes.toString(), isMessage).turns.at(-1);
  return isWhole ? last : undefined;
}

/**
 * The messages that a turn added, in order and in the portions in which they came, whether the turn succeeded or
 * not.
 */
export async function addedIn(file: string, job: JobId): Promise<readonly (readonly ModelMessage[])[]> {
  const read = await readBounded(file, MAX_FILE_BYTES);
  const lines = read.is === "bytes" ? read.bytes.toString().split("\n").flatMap(lineIn) : [];
  return lines.flatMap((line) => (line.is === "messages" && line.turn === job ? [line.messages] : []));
}

async function load(text: string, maxTokens: number): Promise<Loaded> {
  const { modelMessageSchema } = await import("ai");
  const isMessage = (message: unknown) => modelMessageSchema.safeParse(message).success;
  const { turns: whole, leftOut } = turnsIn(text, isMessage);
  const turns = whole.map((turn) => ({ ...turn, messages: onlyPairs(turn.messages) }));
  const kept = newestWithin(turns, maxTokens);
  if (kept.length === turns.length)
    return {
      past: [...noteOf(leftOut), ...turns.flatMap(messagesOf)],
      is: turns.some((turn) => turn.as === "new") ? "continued" : "new",
    };
  const left = leftOut + turns.length - kept.length;
  return {
    past: [...noteOf(left), ...kept.flatMap(messagesOf)],
    is: "new",
    compacted: { is: "compacted", kept: kept.map((turn) => turn.name), leftOut: left },
  };
}

/** All turns; or, if they are too long, the newest that fit into half, so that the next turn need not cut again. */
function newestWithin(turns: readonly Turn[], maxTokens: number): readonly Turn[] {
  if (estimateTokens(turns.flatMap(messagesOf)) <= maxTokens) return turns;
  let room = maxTokens / 2;
  const from = turns.findLastIndex((turn) => {
    room -= estimateTokens(turn.messages);
    return room < 0;
  });
  return turns.slice(from + 1);
}

const messagesOf = ({ messages }: Turn): readonly ModelMessage[] => messages;

const noteOf = (leftOut: number): readonly ModelMessage[] =>
  leftOut === 0
    ? []
    : [
        {
          role: "user",
          content:
            `(${leftOut} earlier turn${leftOut === 1 ? "" : "s"} of this conversation ` +
            `${leftOut === 1 ? "is" : "are"} left out to keep it short. What still counts of them is in the newest ` +
            "message: your scratchpad, open concerns, tasks.)",
        },
      ];

/**
 * The turns in the order in which they ended. A turn without an end, or with a missing line, was cut off and does
 * not count.
 */
function turnsIn(text: string, isMessage: (message: unknown) => boolean) {
  const open = new Map<string, { readonly begun: Begun; readonly lines: ModelMessage[][] }>();
  let turns: Turn[] = [];
  let leftOut = 0;
  for (const line of text.split("\n").flatMap(lineIn)) {
    if (line.is === "begun") open.set(line.turn, { begun: line, lines: [] });
    else if (line.is === "messages") open.get(line.turn)?.lines.push(line.messages.filter(isMessage));
    else if (line.is === "compacted") {
      turns = turns.filter((turn) => line.kept.includes(turn.name));
      leftOut = line.leftOut;
    } else {
      const { begun, lines } = open.get(line.turn) ?? {};
      open.delete(line.turn);
      if (begun && lines?.length === line.lines)
        turns.push({ ...begun, name: line.turn, messages: lines.flat() });
    }
  }
  return { turns, leftOut };
}

const KINDS: ReadonlySet<unknown> = new Set<Line["is"]>(["begun", "messages", "ended", "compacted"]);

function lineIn(text: string): readonly Line[] {
  const line = fields(parseJson(text)); // Half a line was cut by a kill; its turn then has no end either.
  const { is, messages, kept } = line;
  const isWhole =
    is === "messages" ? Array.isArray(messages) : is === "compacted" ? Array.isArray(kept) : true;
  return isWhole && KINDS.has(is) ? [line as Line] : [];
}
