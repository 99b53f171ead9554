/** Makes spans of what happened inside a job and is not in the log: calls of models, tools, and gates. */
import { ATTRIBUTE, type Attributes, OPERATION, OWN_SPAN, providerName } from "./trace-names.ts";

export type TraceSpan = {
  /** Unique in its run; the same for the same span in every process. */
  readonly key: string;
  /** Undefined for the run itself. */
  readonly parent?: string;
  /** The planner's turn or worker's attempt that asked for it. */
  readonly link?: string;
  readonly name: string;
  readonly kind: "internal" | "client";
  /** By the machine's clock, in ms. */
  readonly from: number;
  readonly to: number;
  readonly attributes: Attributes;
};

export type JobDetails = {
  readonly calls: readonly CallDetail[];
  readonly tools: readonly ToolDetail[];
  readonly gates: readonly GateTimes[];
  /** What the job was told and what it said; only if content is to be exported. */
  readonly content?: Attributes;
};

/** One request to a model. `from` and `to` are missing in files of an older Skein. */
export type CallDetail = {
  readonly call: number;
  /** "provider/model". */
  readonly model: string;
  readonly from?: number;
  readonly to?: number;
  /** Undefined if it failed or was cut off. */
  readonly usage?: { readonly input: number; readonly output: number; readonly cacheRead: number };
  readonly stop?: string;
  readonly error?: string;
  readonly content?: Attributes;
};

export type ToolDetail = {
  readonly id: string;
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly hasFailed: boolean;
  readonly content?: Attributes;
};

export type GateTimes = {
  readonly from: number;
  readonly to: number;
  /** Undefined if it could not be run. */
  readonly green?: boolean;
  /** A command ends when the next one begins. */
  readonly commands: readonly { readonly name: string; readonly from: number }[];
};

type JobTime = {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  readonly conversation: string;
};

export const spansInside = (job: JobTime, { calls, tools, gates }: JobDetails): readonly TraceSpan[] => [
  ...calls.map((call) => callSpan(job, call)),
  ...tools.map((tool, i) => toolSpan(job, tool, i + 1)),
  ...gates.flatMap((gate, i) => gateSpans(job, gate, i + 1)),
];

function callSpan({ key, conversation, ...job }: JobTime, detail: CallDetail): TraceSpan {
  const { call, model, from = job.from, to = job.to, usage, stop, error, content } = detail;
  const [provider = "", ...rest] = model.split("/");
  const name = rest.join("/");
  return {
    ...{ key: `${key}/chat/${call}`, parent: key, name: `${OPERATION.call} ${name}`, kind: "client" },
    ...{ from, to: Math.max(from, to) },
    attributes: {
      [ATTRIBUTE.operation]: OPERATION.call,
      [ATTRIBUTE.provider]: providerName(provider),
      [ATTRIBUTE.model]: name,
      [ATTRIBUTE.conversation]: conversation,
      ...(usage && {
        [ATTRIBUTE.inputTokens]: usage.input,
        [ATTRIBUTE.outputTokens]: usage.output,
        [ATTRIBUTE.cacheReadTokens]: usage.cacheRead,
      }),
      ...(stop !== undefined && { [ATTRIBUTE.finish]: [stop] }),
      ...(error !== undefined && { [ATTRIBUTE.error]: error }),
      ...content,
    },
  };
}

const toolSpan = ({ key }: JobTime, tool: ToolDetail, number: number): TraceSpan => ({
  ...{ key: `${key}/tool/${number}`, parent: key, name: `${OPERATION.tool} ${tool.name}`, kind: "internal" },
  ...{ from: tool.from, to: Math.max(tool.from, tool.to) },
  attributes: {
    [ATTRIBUTE.operation]: OPERATION.tool,
    [ATTRIBUTE.tool]: tool.name,
    [ATTRIBUTE.toolType]: "function",
    [ATTRIBUTE.toolCall]: tool.id,
    ...(tool.hasFailed && { [ATTRIBUTE.error]: "tool_error" }),
    ...tool.content,
  },
});

function gateSpans({ key }: JobTime, gate: GateTimes, number: number): readonly TraceSpan[] {
  const { from, to, green, commands } = gate;
  const own = `${key}/gate/${number}`;
  const span = (fields: Omit<TraceSpan, "kind">): TraceSpan => ({ ...fields, kind: "internal" });
  return [
    span({
      ...{ key: own, parent: key, name: OWN_SPAN.gate, from, to: Math.max(from, to) },
      attributes: green === undefined ? { [ATTRIBUTE.error]: "setup" } : { [ATTRIBUTE.green]: green },
    }),
    ...commands.map((command, i) =>
      span({
        ...{ key: `${own}/${i + 1}`, parent: own, name: OWN_SPAN.command },
        ...{ from: command.from, to: Math.max(command.from, commands[i + 1]?.from ?? to) },
        attributes: { [ATTRIBUTE.command]: command.name },
      }),
    ),
  ];
}
