/** Follows an ACP agent's updates: collects its words as the answer and shows its steps to people. */

import { fields, type LooseFields } from "../../../text/json.ts";
import { list, shown, text } from "./loose.ts";
import { costIn } from "./usage.ts";

export class Hearing {
  readonly #write: (line: string) => void;
  #session: string | undefined;
  #text = "";
  /** Where the last message begins in `#text`. */
  #lastAt = 0;
  #last = "";
  #message: unknown;
  #isApart = false;
  #hasActed = false;
  #cost: number | undefined;
  /** What the session had cost at the end of the replay. */
  #costBefore = 0;
  #isReplay = false;
  #waits = 0;
  readonly #stuck = Promise.withResolvers<string>();

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** What the agent has said since the last prompt; if that is very long, the end of it. */
  get text(): string {
    return this.#text.trim();
  }

  /** The part of `text` after the agent's last step. */
  get lastWords(): string {
    return this.#isApart ? "" : this.#text.slice(this.#lastAt).trim();
  }

  /** Whether the agent has used a tool since the last prompt. */
  get hasActed(): boolean {
    return this.#hasActed;
  }

  /** Cost of the session in this process, in dollars, without the replayed turns. */
  get cost(): number | undefined {
    if (this.#cost === undefined) return undefined;
    // A lower value than before means that the agent has restarted its count.
    return this.#cost >= this.#costBefore ? this.#cost - this.#costBefore : this.#cost;
  }

  /** Switches a replay of earlier turns on or off: nothing of it is shown or counted again. */
  replay(isReplay: boolean): void {
    if (this.#isReplay && !isReplay) this.#costBefore = this.#cost ?? 0;
    this.#isReplay = isReplay;
  }

  /** Resolves with the agent's words once it only waits for its model. Codex would wait without end. */
  get stuck(): Promise<string> {
    return this.#stuck.promise;
  }

  forget(): void {
    this.#text = "";
    this.#lastAt = 0;
    this.#hasActed = false;
    this.#message = undefined;
  }

  /** Ignores other sessions from now on: words of the agent's own subagents are not its answer. */
  listenTo(session: string): void {
    this.#session = session;
  }

  /** `params`: those of a `session/update` notification. */
  take(params: unknown): void {
    const { sessionId, update: said } = fields(params);
    if (this.#session !== undefined && sessionId !== this.#session) return;
    const update = fields(said);
    const kind = text(update["sessionUpdate"]);
    if (this.#isReplay && kind !== "usage_update") return;
    const [content, message] = [update["content"], update["messageId"]];
    if (kind === "agent_message_chunk") this.#say(textIn(content), message);
    else if (kind === "agent_thought_chunk") this.#show("thought", textIn(content));
    else if (kind === "tool_call" || kind === "tool_call_update") this.#step(kind, update);
    else if (kind === "usage_update") this.#cost = costIn(update) ?? this.#cost;
    else if (kind === "session_info_update") this.#trouble(fields(fields(update["_meta"])["codex"])["error"]);
    // Plans, modes and titles are not used.
  }

  /** Codex retries by itself, and reports the retries only here. */
  #trouble(error: unknown): void {
    const { message, additionalDetails } = fields(error);
    const words = [text(message), text(additionalDetails)].filter(Boolean).join(": ");
    if (words === "") return;
    this.#show("notice", `${shown(words, MAX_SHOWN_CHARS)}\n`);
    this.#waits = WAITING.test(words) ? this.#waits + 1 : 0;
    if (this.#waits >= MAX_WAITS) this.#stuck.resolve(words);
  }

  #say(words: string, message: unknown): void {
    this.#waits = 0;
    // Each message begins on a line of its own, so that an answer after a sentence is found.
    const isNext = this.#text !== "" && (this.#isApart || message !== this.#message);
    this.#message = message;
    this.#isApart = false;
    if (isNext) this.#lastAt = this.#text.length;
    const all = `${this.#text}${isNext ? "\n" : ""}${words}`;
    this.#text = all.length > 2 * MAX_TEXT_CHARS ? all.slice(-MAX_TEXT_CHARS) : all;
    this.#lastAt = Math.max(0, this.#lastAt - (all.length - this.#text.length));
    this.#show("message", words);
  }

  #step(kind: string, update: LooseFields): void {
    const { title, status } = { title: shown(text(update["title"]), 200), status: text(update["status"]) };
    this.#isApart = true;
    this.#hasActed = true;
    if (kind === "tool_call" || (title && status === "pending")) {
      this.#show("step", `→ ${[shown(text(update["kind"]), 20), title].filter(Boolean).join(" ")}\n`);
    } else if (status === "failed" || status === "completed") {
      const said = list(update["content"])
        .map((one) => textIn(fields(one)["content"]))
        .join("\n");
      this.#show("step", `← ${status}${said === "" ? "" : `: ${shown(said, MAX_SHOWN_CHARS)}`}\n`);
    }
  }

  #show(what: string, words: string): void {
    if (words === "") return;
    this.#write(this.#last !== "" && this.#last !== what ? `\n${words}` : words);
    this.#last = what;
  }
}

const WAITING = /waiting for network/i;
/** Codex reports a wait after 3, 11, 24 and 47 s. */
const MAX_WAITS = 4;
const MAX_SHOWN_CHARS = 500;
/** The most characters of an answer that are read. */
const MAX_TEXT_CHARS = 2_000_000;

const textIn = (block: unknown): string => text(fields(block)["text"]);
