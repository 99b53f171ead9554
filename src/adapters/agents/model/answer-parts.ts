/** Puts the parts of a model's stream together into one answer. */
import type { CallableModel } from "../../models/providers.ts";

export type CallOptions = Parameters<CallableModel["doStream"]>[0];
export type Generated = Awaited<ReturnType<CallableModel["doGenerate"]>>;
export type StreamPart =
  Awaited<ReturnType<CallableModel["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;
type Content = Generated["content"][number];
type Metadata = Content["providerMetadata"];
type Block = { readonly type: "text" | "reasoning"; text: string; providerMetadata?: Metadata };

type Piece = { readonly id: string; readonly providerMetadata?: Metadata };

export class AnswerParts {
  /** The parts, in the order in which they began. */
  readonly #content: (Content | Block)[] = [];
  readonly #open = new Map<string, Block>();
  #finish: Extract<StreamPart, { type: "finish" }> | undefined;
  #chars = 0;

  /** Characters of text, reasoning and arguments so far, so that an endless answer is noticed. */
  get chars(): number {
    return this.#chars;
  }

  add(part: StreamPart): void {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        this.#begin(part.type === "text-start" ? "text" : "reasoning", part);
        return;
      case "text-delta":
      case "reasoning-delta":
        this.#grow(part.type === "text-delta" ? "text" : "reasoning", part);
        return;
      case "text-end":
      case "reasoning-end":
        this.#close(part.type === "text-end" ? "text" : "reasoning", part);
        return;
      case "tool-input-delta":
        this.#chars += part.delta.length;
        return;
      case "tool-call":
      case "tool-result":
      case "file":
      case "source":
        this.#content.push(part);
        return;
      case "finish":
        this.#finish = part;
        return;
      default:
        return; // Pings, warnings, model names.
    }
  }

  /** The whole answer; undefined if the stream ended before the model did. */
  answer(): Generated | undefined {
    const finish = this.#finish;
    if (finish === undefined || finish.finishReason.unified === "interrupted") return undefined;
    const hasCalls = this.#content.some((part) => part.type === "tool-call");
    const { unified, raw } = finish.finishReason;
    return {
      content: this.#content as Content[],
      // Some servers give a finish reason of their own, for which the SDK would not run the tools.
      finishReason: { unified: unified === "other" && hasCalls ? "tool-calls" : unified, raw },
      usage: finish.usage,
      warnings: [],
      ...(finish.providerMetadata ? { providerMetadata: finish.providerMetadata } : {}),
    };
  }

  #begin(type: Block["type"], { id, providerMetadata }: Piece): void {
    const block: Block = { type, text: "", ...(providerMetadata ? { providerMetadata } : {}) };
    this.#open.set(`${type} ${id}`, block);
    this.#content.push(block);
  }

  #grow(type: Block["type"], piece: Piece & { readonly delta: string }): void {
    this.#chars += piece.delta.length;
    const block = this.#open.get(`${type} ${piece.id}`);
    if (!block) return;
    block.text += piece.delta;
    if (piece.providerMetadata) block.providerMetadata = piece.providerMetadata;
  }

  #close(type: Block["type"], { id, providerMetadata }: Piece): void {
    const block = this.#open.get(`${type} ${id}`);
    if (block && providerMetadata) block.providerMetadata = providerMetadata;
    this.#open.delete(`${type} ${id}`);
  }
}
