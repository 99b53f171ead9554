/** Lists for each key of skein.yaml what it asks for beyond the harmless: the table beside the schema. */
import type { ModelSpec } from "../core/model-spec.ts";
import type { AgentSpec } from "../ports/agent-spec.ts";
import type { TrustAsk } from "../ports/trust.ts";
import { wordsToAgree } from "../text/asked-words.ts";
import { knownAgent } from "./known-agents.ts";
import { knownProvider } from "./known-providers.ts";
import type { Config } from "./schema.ts";

/** What one key asks for: nothing if its value is harmless. `from`: the file with the key. */
export function settingAsks(key: string, value: unknown, from: string): readonly TrustAsk[] {
  if (HARMLESS.has(key)) return [];
  const row = ROWS.get(key) ?? unknownKey;
  return row(value, key).map((asked) => ({ is: "setting", from, name: key, ...asked }));
}

type Asked = Pick<TrustAsk, "value" | "words">;
type Row = (value: unknown, key: string) => readonly Asked[];

/** Numbers, names, globs, limits and choices: none of them alone starts, reaches, shows or unlocks anything. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...[
    "workers",
    "planners",
    "lookFor",
    "base",
    "approve",
    "branchPrefix",
    "keepBranches",
    "gates",
    "gateProbe",
  ],
  ...["gateChanges", "evidence.tests", "evidence.marks", "gateWorkspace", "gateTimeout", "gateOutput"],
  ...[
    "workspace.setupTimeout",
    "workspace.maxFile",
    "workspace.sparse",
    "landing.strategy",
    "landing.maxBatch",
  ],
  ...["sweep.red", "sweep.green", "reconciler", "onRedBase", "repair.maxTasks", "repair.maxFiles"],
  ...["repair.maxRounds", "timeout.plan", "timeout.work", "timeout.land", "timeout.check", "timeout.grace"],
  ...["retry.maxFailed", "retry.maxCriterion", "retry.maxRefused", "retry.maxLost", "retry.maxUnreachable"],
  ...["retry.first", "retry.max", "subtasks.maxDepth", "subtasks.maxTasks", "questions.wait"],
  ...["budget.tokens", "budget.dollars", "budget.task.tokens", "budget.task.dollars"],
  ...["budget.subtree.tokens", "budget.subtree.dollars", "budget.landingShare", "budget.reserve.tokens"],
  ...["budget.reserve.dollars", "quota.wait", "quota.first", "quota.max", "quiet.warn", "quiet.stop"],
  ...["overlap", "order", "sharedFiles", "subplanner.maxDepth", "subplanner.scopeThreshold"],
  ...["subplanner.moduleThreshold", "subplanner.scoreThreshold", "subplanner.maxSubtasks", "replanAfter"],
  ...["log.maxTranscript", "fleet.schema", "fleet.maxBundle", "fleet.needs"],
]);

/** For a choice: only this value asks, because the default and the others are equally strict or stricter. */
const only =
  (loose: unknown, words: string): Row =>
  (value) =>
    value === loose ? [{ value, words }] : [];

/** Each entry asks separately, so that a new entry asks only for itself. */
const each =
  (words: (entry: string) => string, harmless: readonly string[] = []): Row =>
  (value) =>
    (value as readonly string[])
      .filter((entry) => !harmless.includes(entry))
      .map((entry) => ({ value: entry, words: words(wordsToAgree(entry)) }));

/** A newer key asks until it is added to one of these tables. */
const unknownKey: Row = (value, key) => [{ value, words: `sets ${key}` }];

const ROWS: ReadonlyMap<string, Row> = new Map<string, Row>([
  ["agent", (value) => agentAsks(value as AgentSpec, "workers")],
  ["planner", (value) => (value === "none" ? [] : agentAsks(value as AgentSpec, "planners"))],
  ["model", (value) => modelAsks(value as ModelSpec)],
  ["fallback", (value) => (value as readonly ModelSpec[]).flatMap(modelAsks)],
  ["sandbox", only("off", "agents' commands run as you, without the sandbox")],
  ["gateSandbox", only("off", "the gate and the set-up run as you, without the sandbox")],
  ["network", () => []], // The default is the less strict of its two values.
  ["permissions", only("allow", "every permission that an ACP agent requests is given")],
  ["prompts", () => []], // The texts in the folder ask, not its name.
  ["gate", gateAsks],
  [
    "workspace.setup",
    (run) => [{ value: run, words: `runs ${wordsToAgree(String(run))} in each new workspace` }],
  ],
  ["workspace.copy", each((name) => `agents get a copy of ${name}, which git ignores`, ["node_modules"])],
  [
    "workspace.share",
    each((name) => `agents can read and change ${name} of your checkout, which git ignores`),
  ],
  ["workspace.pass", each((name) => `agents get your variable ${name}`)],
  [
    "workspace.filters",
    each((name) => `the git filter ${name} runs on what agents write, without the sandbox`),
  ],
  ["prices", (value) => [{ value, words: "says what models cost, which budgets in money go by" }]],
  ["deliver", only(true, "what a run has made is merged into its base branch without a word")],
  ["fleet.enabled", only(true, "runs are kept in the Postgres of SKEIN_FLEET_URL, and done by its machines")],
  ["fleet.push", () => []],
  [
    "fleet.remote",
    (value) =>
      value === "origin" ? [] : [{ value, words: `the fleet's work goes to ${wordsToAgree(String(value))}` }],
  ],
]);

function gateAsks(value: unknown): readonly Asked[] {
  const commands = value as Config["gate"];
  if (typeof commands === "string") return []; // "auto" runs what is detected, "none" nothing.
  return commands.map(({ run, env = {} }) => {
    const variables = Object.entries(env).map(([name, text]) => `${name}=${text}`);
    const line = [...variables, run].join(" ");
    return { value: { run, env }, words: `the gate runs ${wordsToAgree(line)}` };
  });
}

/** A gate command or criterion that detection would find, too, is harmless: it only runs the repository's own tests. */
export const isDetected = ({ is, name, value }: TrustAsk, detected: readonly string[]): boolean => {
  if (is === "criterion") return detected.includes(String(value));
  if (is !== "setting" || name !== "gate") return false;
  const { run, env } = value as { readonly run: string; readonly env: object };
  // These managers define `npm test` as `npm run test`; `bun test` is a program of its own.
  const inFull = run.replace(/^(npm|pnpm|yarn) test$/, "$1 run test");
  return Object.keys(env).length === 0 && detected.includes(inFull);
};

function agentAsks(spec: AgentSpec, who: string): readonly Asked[] {
  switch (spec.kind) {
    case "model":
      return [spec.model, ...spec.fallbacks].flatMap(modelAsks);
    case "scripted":
      return [{ value: spec, words: `the script ${spec.script} answers for ${who}, and writes their files` }];
    case "command":
      return [
        { value: spec, words: `${wordsToAgree(spec.command.join(" "))} is started for ${who}, as you` },
      ];
    case "acp": {
      const { passes = [] } = knownAgent(spec.name) ?? {};
      const keys = passes.filter((name) => /KEY|TOKEN/.test(name));
      const also = keys.length === 0 ? "" : `, with ${keys.join(", ")}`;
      return [
        {
          value: spec,
          words: `${wordsToAgree(spec.command.join(" "))} is started for ${who}, as you${also}`,
        },
      ];
    }
  }
}

/**
 * A model of a known provider is only a name: its key goes to that provider's own address. An address and a key's name
 * are agreed to together: a change of either asks again.
 */
function modelAsks(spec: ModelSpec): readonly Asked[] {
  const { provider, model, baseUrl, keyVariable, speaks } = spec;
  if (baseUrl === undefined && keyVariable === undefined && speaks === undefined) return [];
  const keys = keyVariable === undefined ? (knownProvider(provider)?.keys ?? []) : [keyVariable];
  const where = baseUrl === undefined ? `the provider ${provider}` : wordsToAgree(baseUrl);
  const key = keys.length === 0 ? "no key" : `the key in ${keys.join(" or ")}`;
  const value = { provider, baseUrl: baseUrl ?? null, keys, speaks: speaks ?? null };
  return [{ value, words: `${wordsToAgree(model)}: prompts, code and ${key} go to ${where}` }];
}
