/** Lists the third-party agents that are tried, their versions, and how each is pointed at the test's model. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

export type Recipe = {
  /** The agent's name as `--agent` takes it. */
  readonly name: string;
  /** Pinned versions, because the recorded results are about them. The first package brings the command. */
  readonly packages: readonly [string, ...string[]];
  /** Gives the variables that tell the agent which model to use; writes the files that it needs below `home`. */
  readonly prepare: (server: string, home: string) => Promise<Readonly<Record<string, string>>>;
  /** The call of the agent's own tool that writes a file. */
  readonly writes: (
    file: string,
    text: string,
    cwd: string,
  ) => { readonly name: string; readonly input: object };
  /** The answer that the agent expects to its calls without tools, if not any text will do. */
  readonly aside?: string;
};

export const KEY = "a-key-that-nobody-may-see-4711";

const shell = (file: string, text: string) => `printf '%s' '${text}' > ${file}`;

const opencode: Recipe = {
  name: "opencode",
  packages: ["opencode-ai@1.18.33"],
  prepare: async (server) => ({
    OPENCODE_CONFIG_CONTENT: JSON.stringify({
      model: "test/model",
      small_model: "test/model",
      autoupdate: false,
      share: "disabled",
      permission: { edit: "ask", bash: "ask" },
      provider: {
        test: {
          npm: "@ai-sdk/openai-compatible",
          options: { baseURL: `${server}/v1`, apiKey: KEY },
          models: { model: { tool_call: true, limit: { context: 100_000, output: 8_000 } } },
        },
      },
    }),
  }),
  writes: (filePath, content) => ({ name: "write", input: { filePath, content } }),
};

const claude: Recipe = {
  name: "claude",
  packages: ["@agentclientprotocol/claude-agent-acp@0.99.1"],
  prepare: async (server) => ({ ANTHROPIC_BASE_URL: server, ANTHROPIC_API_KEY: KEY }),
  writes: (file, content, cwd) => ({ name: "Write", input: { file_path: path.join(cwd, file), content } }),
};

const codex: Recipe = {
  name: "codex",
  packages: ["@agentclientprotocol/codex-acp@2.6.0"],
  prepare: async (server, home) => {
    await mkdir(path.join(home, ".codex"), { recursive: true });
    // This agent's usual model writes JavaScript instead of calling tools, which the test's server does not speak.
    await writeFile(path.join(home, ".codex", "config.toml"), 'model = "model"\n');
    return { OPENAI_BASE_URL: `${server}/v1`, OPENAI_API_KEY: KEY };
  },
  writes: (file, text) => ({ name: "exec_command", input: { cmd: shell(file, text) } }),
};

const gemini: Recipe = {
  name: "gemini",
  packages: ["@google/gemini-cli@0.61.0"],
  prepare: async (server) => ({ GOOGLE_GEMINI_BASE_URL: server, GEMINI_API_KEY: KEY }),
  writes: (file_path, content) => ({ name: "write_file", input: { file_path, content } }),
  // The agent first asks how complex a message is, and chooses its model by the answer.
  aside: JSON.stringify({ complexity_reasoning: "one file", complexity_score: 10 }),
};

const pi: Recipe = {
  name: "pi",
  // Newer versions of the second package could not be installed: the registry lacked a package that they need.
  packages: ["pi-acp@0.0.34", "@earendil-works/pi-coding-agent@0.87.1"],
  prepare: async (server, home) => {
    const folder = path.join(home, ".pi", "agent");
    await mkdir(folder, { recursive: true });
    const api = { baseUrl: `${server}/v1`, api: "openai-completions", apiKey: "$OPENAI_API_KEY" };
    const providers = { test: { ...api, models: [{ id: "model" }] } };
    await writeFile(path.join(folder, "models.json"), JSON.stringify({ providers }));
    const settings = { defaultProvider: "test", defaultModel: "model" };
    await writeFile(path.join(folder, "settings.json"), JSON.stringify(settings));
    return { OPENAI_API_KEY: KEY };
  },
  writes: (file, content) => ({ name: "write", input: { path: file, content } }),
};

export const RECIPES: readonly Recipe[] = [claude, codex, gemini, opencode, pi];
