/** Which third-party agents are tried, in which version, and how is each pointed at the model's server of the test? */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

export type Recipe = {
  /** As `--agent` knows it. */
  readonly name: string;
  /** Pinned: what was seen is about these. The first brings the command. */
  readonly packages: readonly [string, ...string[]];
  /** The variables that it takes its model from; files that it needs are written below `home`. */
  readonly prepare: (server: string, home: string) => Promise<Readonly<Record<string, string>>>;
  /** The call of its own tool that writes a file. */
  readonly writes: (
    file: string,
    text: string,
    cwd: string,
  ) => { readonly name: string; readonly input: object };
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
    await writeFile(
      path.join(home, ".codex", "config.toml"),
      `model = "model"\nmodel_provider = "test"\n\n[model_providers.test]\nname = "test"\n` +
        `base_url = "${server}/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n`,
    );
    return { OPENAI_API_KEY: KEY, CODEX_HOME: path.join(home, ".codex") };
  },
  writes: (file, text) => ({ name: "exec_command", input: { cmd: shell(file, text) } }),
};

/** Not gemini: the test's server does not speak its wire format; nor pi, which keeps its models in files of its own. */
export const RECIPES: readonly Recipe[] = [opencode, claude, codex];
