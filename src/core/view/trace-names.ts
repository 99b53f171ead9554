/** Names spans and their attributes: those of the pinned conventions, then those of Skein. */

/** The GenAI conventions of OpenTelemetry are still in development: names may differ in other versions. */
export const CONVENTIONS = {
  version: "1.42.0",
  schemaUrl: "https://opentelemetry.io/schemas/gen-ai/1.42.0",
} as const;

/** Values of `gen_ai.operation.name`, and the first word of a span's name. */
export const OPERATION = {
  run: "invoke_workflow",
  plan: "plan",
  work: "invoke_agent",
  call: "chat",
  tool: "execute_tool",
} as const;

/** Names of spans that the conventions do not know. */
export const OWN_SPAN = {
  land: "skein.landing",
  check: "skein.check",
  gate: "skein.gate",
  command: "skein.gate.command",
} as const;

export const ATTRIBUTE = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  model: "gen_ai.request.model",
  agent: "gen_ai.agent.name",
  workflow: "gen_ai.workflow.name",
  conversation: "gen_ai.conversation.id",
  finish: "gen_ai.response.finish_reasons",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  tool: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  toolCall: "gen_ai.tool.call.id",
  error: "error.type",
  // Content: only if it is to be exported.
  system: "gen_ai.system_instructions",
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",
  // Names of Skein.
  run: "skein.run.id",
  runEnd: "skein.run.end",
  job: "skein.job.id",
  jobEnd: "skein.job.end",
  machine: "skein.machine.name",
  task: "skein.task.id",
  taskKey: "skein.task.key",
  members: "skein.landing.tasks",
  proof: "skein.landing.proof",
  green: "skein.gate.green",
  command: "skein.gate.command",
  tokens: "skein.usage.tokens",
  unaccountedTokens: "skein.usage.unaccounted_tokens",
  microdollars: "skein.cost.microdollars",
} as const;

type AttributeName = (typeof ATTRIBUTE)[keyof typeof ATTRIBUTE];
export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = { readonly [name in AttributeName]?: AttributeValue };

/** The provider's name in the conventions; other providers keep their configured name. */
export const providerName = (provider: string): string => PROVIDERS.get(provider) ?? provider;

const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ["google", "gcp.gemini"],
  ["mistral", "mistral_ai"],
  ["moonshot", "moonshot_ai"],
  ["xai", "x_ai"],
]);
