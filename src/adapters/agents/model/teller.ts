/** Writes a model's turn for people while it goes on: its words, tool calls and results, shortened. */
import type { ModelMessage } from "ai";
import type { StreamPart } from "./answer-parts.ts";

export class Teller {
  readonly #write: (text: string) => void;
  #isInLine = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  begin = (model: string, conversation: "new" | "continued"): void =>
    this.#line(`(${model}, ${conversation === "new" ? "new conversation" : "continued conversation"})`);

  part = (part: StreamPart): void => {
    if (part.type === "text-delta") this.#text(part.delta);
    if (part.type === "tool-call") this.#line(`→ ${part.toolName} ${cut(part.input, MAX_ARGUMENT_CHARS)}`);
  };

  tool = (text: string): void => this.#text(text);

  messages = (messages: readonly ModelMessage[]): void => {
    for (const message of messages) {
      if (message.role === "user") this.#line(`(told: ${cut(textOf(message.content), MAX_RESULT_CHARS)})`);
      if (message.role !== "tool") continue;
      for (const part of message.content)
        if (part.type === "tool-result" && part.toolName !== "bash")
          this.#line(`← ${cut(outputOf(part.output), MAX_RESULT_CHARS)}`);
    }
  };

  trouble = (words: string): void => this.#line(`(${cut(words, MAX_RESULT_CHARS)}: retried)`);

  #text(text: string): void {
    if (text === "") return;
    this.#write(text);
    this.#isInLine = !text.endsWith("\n");
  }

  #line(text: string): void {
    this.#write(`${this.#isInLine ? "\n" : ""}${text}\n`);
    this.#isInLine = false;
  }
}

const MAX_ARGUMENT_CHARS = 300;
const MAX_RESULT_CHARS = 300;

const cut = (text: string, max: number): string => {
  const line = text
    .slice(0, max * 4)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > max || text.length > max * 4
    ? `${line.slice(0, max).toWellFormed()}… (${text.length} characters)`
    : line;
};

const textOf = (content: string | readonly { readonly type: string }[]): string =>
  typeof content === "string"
    ? content
    : content.map((part) => ("text" in part && typeof part.text === "string" ? part.text : "")).join("");

const outputOf = (output: { readonly type: string }): string =>
  "value" in output
    ? typeof output.value === "string"
      ? output.value
      : JSON.stringify(output.value)
    : output.type;
