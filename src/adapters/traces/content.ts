/** Reads the messages of a job's turn for traces, in OpenTelemetry's form, without secrets and shortened. */
import path from "node:path";
import type { ModelMessage } from "ai";
import type { JobId } from "../../core/job.ts";
import { ATTRIBUTE, type Attributes } from "../../core/view/trace-names.ts";
import type { Said } from "../../ports/agent.ts";
import { redactFields } from "../../text/redact.ts";
import { addedIn } from "../agents/model/conversation.ts";
import { fileName, readRecord, turnFiles } from "../agents/turn-files.ts";

type ContentPlace = { readonly turns: string; readonly conversations: string; readonly job: JobId };

type TurnContent = {
  readonly turn: Attributes;
  /** The content of the n-th answered call, counted from 0; undefined if it is not known. */
  readonly call: (n: number) => Attributes | undefined;
  /** The content of a tool that this call asked for. */
  readonly tool: (n: number, id: string) => Attributes | undefined;
};

export async function contentOf(
  { turns, conversations, job }: ContentPlace,
  redact: (text: string) => string,
): Promise<TurnContent> {
  const files = turnFiles(turns, job);
  // Redacted before any text is shortened, because half a secret is not recognised.
  const plain = <Value>(value: Value): Value => redactFields(value, redact);
  const brief = plain(await readRecord<{ readonly kind: string; readonly transcript?: string }>(files.brief));
  const said = plain(await readRecord<Said>(files.said));
  const name = brief?.kind === "plan" ? (brief.transcript ?? job) : job;
  const lines = plain(await addedIn(path.join(conversations, `${fileName(name)}.jsonl`), job));
  const steps = stepsIn(lines.filter((line) => !isPast(line)));
  const last = steps.at(-1)?.output ?? (said?.is === "said" ? answer(said.text) : undefined);
  const told = steps[0]?.input ?? (brief ? [userMessage(JSON.stringify(brief))] : []);
  return {
    turn: {
      ...(told.length > 0 && { [ATTRIBUTE.inputMessages]: JSON.stringify(told.map(asMessage)) }),
      ...(last && { [ATTRIBUTE.outputMessages]: JSON.stringify([asMessage(last)]) }),
    },
    call: (n) => {
      const step = steps[n];
      if (!step) return undefined;
      return {
        [ATTRIBUTE.inputMessages]: JSON.stringify(step.input.map(asMessage)),
        [ATTRIBUTE.outputMessages]: JSON.stringify([asMessage(step.output)]),
      };
    },
    tool: (n, id) => {
      const asked = steps[n] && partsOf(steps[n].output).find((part) => part["id"] === id);
      const results = steps[n + 1]?.input ?? steps.at(-1)?.after ?? [];
      const result = results.flatMap(partsOf).find((part) => part["id"] === id);
      return {
        ...(asked && { [ATTRIBUTE.toolArguments]: JSON.stringify(asked["arguments"]) }),
        ...(result && { [ATTRIBUTE.toolResult]: JSON.stringify(result["result"]) }),
      };
    },
  };
}

const userMessage = (content: string): ModelMessage => ({ role: "user", content });
const answer = (content: string): ModelMessage => ({ role: "assistant", content });

/** Whether the line is a worker's conversation so far, which is the first line when the worker goes on. */
const isPast = (line: readonly ModelMessage[]): boolean =>
  line.some(({ role }) => role === "user") && line.some(({ role }) => role === "assistant");

/** An answer with the messages that are new since the one before; each call was sent all earlier messages as well. */
type Step = {
  readonly input: readonly ModelMessage[];
  readonly output: ModelMessage;
  after: readonly ModelMessage[];
};

function stepsIn(lines: readonly (readonly ModelMessage[])[]): readonly Step[] {
  const steps: Step[] = [];
  let fresh: ModelMessage[] = [];
  for (const message of lines.flat()) {
    if (message.role === "assistant") {
      steps.push({ input: fresh, output: message, after: [] });
      fresh = [];
    } else fresh.push(message);
  }
  const last = steps.at(-1);
  if (last) last.after = fresh;
  return steps;
}

type Part = Readonly<Record<string, unknown>>;

const asMessage = (message: ModelMessage) => ({ role: message.role, parts: partsOf(message) });

function partsOf({ content }: ModelMessage): readonly Part[] {
  if (typeof content === "string") return [{ type: "text", content: shortened(content) }];
  return content.flatMap((part): readonly Part[] => {
    switch (part.type) {
      case "text":
      case "reasoning":
        return [{ type: part.type, content: shortened(part.text) }];
      case "tool-call":
        return [{ type: "tool_call", id: part.toolCallId, name: part.toolName, arguments: cut(part.input) }];
      case "tool-result":
        return [{ type: "tool_call_response", id: part.toolCallId, result: cut(part.output) }];
      default:
        return []; // Files and the like are not sent.
    }
  });
}

/** A collector refuses a span that is too large, with everything that was sent beside it. */
const MAX_CHARS = 8_000;

const shortened = (text: string): string =>
  text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS).toWellFormed()}… (${text.length} characters)`;

/** The value with every text in it shortened. */
const cut = (value: unknown): unknown => redactFields(value, shortened);
