/** Which agents are known by name? How each is started as an Agent Client Protocol server, and what it needs. */

export type KnownAgent = {
  readonly name: string;
  /** Looked for on PATH. */
  readonly command: readonly [string, ...string[]];
  /** The package that brings the command. */
  readonly npm: string;
  /** Environment variables that it takes its account from: handed on to it, and to nobody else. */
  readonly passes: readonly string[];
};

export const KNOWN_AGENTS: readonly KnownAgent[] = [
  {
    name: "claude",
    command: ["claude-agent-acp"],
    npm: "@agentclientprotocol/claude-agent-acp",
    passes: [
      ...["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"],
      ...["CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_MAX_RETRIES"],
    ],
  },
  {
    name: "codex",
    command: ["codex-acp"],
    npm: "@agentclientprotocol/codex-acp",
    passes: ["OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY", "CODEX_HOME"],
  },
  {
    name: "gemini",
    command: ["gemini", "--acp"],
    npm: "@google/gemini-cli",
    passes: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"],
  },
  {
    name: "opencode",
    command: ["opencode", "acp"],
    npm: "opencode-ai",
    passes: [
      ...["OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
      ...["GEMINI_API_KEY", "OPENROUTER_API_KEY"],
    ],
  },
  { name: "pi", command: ["pi-acp"], npm: "pi-acp", passes: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"] },
];

export const knownAgent = (name: string): KnownAgent | undefined =>
  KNOWN_AGENTS.find((agent) => agent.name === name);
