/** Lists the agents that are known by name: how each starts as an Agent Client Protocol server, and what it needs. */
import type { Environment } from "../ports/project.ts";

export type KnownAgent = {
  readonly name: string;
  /** Its program is looked for on PATH. */
  readonly command: readonly [string, ...string[]];
  /** Its packages, as `npm install --global` takes them. */
  readonly npm: string;
  /** The version of its first package that whole runs were tried with; `docs/agents.md` has the record. */
  readonly tried: string;
  /** Programs that it starts itself, also looked for on PATH. */
  readonly starts?: readonly string[];
  /** The oldest Node that its packages support, if many users may have an older one. */
  readonly node?: number;
  /** Variables that it needs under other names or in another form than the user has set them. */
  readonly tells?: (passed: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
  /** It does not understand Skein's error for a missing file, so it is not offered to read through Skein. */
  readonly readsItself?: true;
  /** Environment variables with its account: passed on to this agent only. */
  readonly passes: readonly string[];
};

export const KNOWN_AGENTS: readonly KnownAgent[] = [
  {
    name: "claude",
    command: ["claude-agent-acp"],
    npm: "@agentclientprotocol/claude-agent-acp",
    tried: "0.99.1",
    node: 22,
    passes: [
      ...["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"],
      ...["CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_MAX_RETRIES"],
    ],
  },
  {
    name: "codex",
    command: ["codex-acp"],
    npm: "@agentclientprotocol/codex-acp",
    tried: "2.6.0",
    passes: ["OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY", "CODEX_HOME", "CODEX_CONFIG"],
    tells: codexProvider,
  },
  {
    name: "gemini",
    command: ["gemini", "--acp"],
    npm: "@google/gemini-cli",
    tried: "0.61.0",
    passes: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"],
    readsItself: true,
  },
  {
    name: "opencode",
    command: ["opencode", "acp"],
    npm: "opencode-ai",
    tried: "1.18.33",
    passes: [
      ...["OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
      ...["GEMINI_API_KEY", "OPENROUTER_API_KEY"],
    ],
  },
  {
    name: "pi",
    command: ["pi-acp"],
    npm: "pi-acp @earendil-works/pi-coding-agent",
    tried: "0.0.34",
    starts: ["pi"],
    node: 22,
    passes: [
      ...["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"],
      ...["PI_CODING_AGENT_DIR", "PI_OFFLINE"],
    ],
  },
];

/**
 * Codex no longer reads OPENAI_BASE_URL: it would call OpenAI's own server, with a key that is meant for another one.
 * With its setting `openai_base_url` it takes 18 s a turn to find out that a server has no WebSockets; a provider of
 * its own takes 1 s, and writes no key into its home. A user's own CODEX_CONFIG is left unchanged.
 */
function codexProvider(passed: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { OPENAI_BASE_URL: base_url, CODEX_CONFIG } = passed;
  if (!base_url || CODEX_CONFIG !== undefined) return {};
  const env_key = ["CODEX_API_KEY", "OPENAI_API_KEY"].find((name) => passed[name]);
  const provider = { name: "OPENAI_BASE_URL", base_url, wire_api: "responses", ...(env_key && { env_key }) };
  return {
    CODEX_CONFIG: JSON.stringify({ model_provider: "base-url", model_providers: { "base-url": provider } }),
  };
}

/** What is known of an agent by its name: its additional variables, and its habits. */
export function startOf(name: string, env: Environment) {
  const known = knownAgent(name);
  const own = passed(env, known?.passes ?? []);
  return {
    environment: { ...own, ...known?.tells?.(own) },
    readsItself: known?.readsItself ?? false,
    ...(known && { tried: { package: packageOf(known), version: known.tried } }),
  };
}

/** The package with its command. */
export const packageOf = ({ npm }: KnownAgent): string => npm.split(" ")[0]!;

/** The command that installs it in the version that was tried. */
export const installOf = (agent: KnownAgent): string =>
  `npm install --global ${agent.npm.replace(packageOf(agent), `${packageOf(agent)}@${agent.tried}`)}`;

/** True if a version precedes another; false if one is not a version. Suffixes such as -rc.1 are ignored. */
function isOlder(version: string, than: string): boolean {
  const [a, b] = [numbersOf(version), numbersOf(than)];
  if (a === undefined || b === undefined) return false;
  const at = a.findIndex((number, i) => number !== b[i]);
  return at >= 0 && a[at]! < b[at]!;
}

function numbersOf(version: string): readonly number[] | undefined {
  const found = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version);
  return found ? found.slice(1, 4).map((part = "0") => Number(part)) : undefined;
}

/** Older by a major version: its protocol may differ. */
export const isTooOld = (version: string, than: string): boolean =>
  isOlder(version, than) && numbersOf(version)![0] !== numbersOf(than)![0];

export const knownAgent = (name: string): KnownAgent | undefined =>
  KNOWN_AGENTS.find((agent) => agent.name === name);

/** The named variables that are set. */
export const passed = (env: Environment, names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const])));
