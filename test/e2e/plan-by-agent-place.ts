/** Asks an agent for a plan in a real repository, and shows what that leaves behind. */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { planByAgent } from "../../src/app/plan-by-agent.ts";
import { loneParts } from "../../src/compose/agents.ts";
import { looksOf } from "../../src/compose/planning.ts";
import { NO_FACTS } from "../../src/planning/facts.ts";
import type { ExecutionPlan } from "../../src/planning/plan.ts";
import { AGREES_TO_ALL } from "../../src/ports/trust.ts";
import { DATA } from "../plans/parts.ts";
import { makeSetting, type Setting } from "../support/live-runs.ts";
import {
  type Answerer,
  type ModelServer,
  startModelServer,
  type WireName,
} from "../support/model-server/model-server.ts";
import { RULES_PLAN } from "../support/rules-plan.ts";

export const KEY = "a-key-that-nobody-may-see-4711";
export const REQUEST = "Add the commands a and b.\n\n- a prints its name\n- b, too";
export const FILES = { "README.md": "# here\n", "src/cli.ts": "export {};\n" };

/** A plan that an agent may answer with. */
export const GOOD = {
  goal: "Two commands",
  success_criteria: ["npm test passes"],
  tasks: ["a", "b"].map((id) => ({
    id,
    subject: `Add ${id}`,
    description: `Add the command ${id} to src/${id}.ts, as src/cli.ts does`,
    scope: [`src/${id}.ts`],
    requirements: ["It prints its name"],
    metadata: { agent: "general-purpose", depth: 1 },
  })),
};

export type Asked = {
  readonly end: Awaited<ReturnType<typeof planByAgent>>;
  readonly said: readonly string[];
};

export async function ask(
  { project, env, config }: Setting,
  flags: Readonly<Record<string, unknown>>,
  more: {
    readonly env?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
    readonly rulesPlan?: ExecutionPlan;
    readonly request?: string;
  } = {},
): Promise<Asked> {
  const said: string[] = [];
  const wanted = {
    request: more.request ?? REQUEST,
    config: config(flags),
    words: DATA.words,
    facts: { ...NO_FACTS, languages: ["TypeScript"], testCommand: "npm test" },
    rulesPlan: more.rulesPlan ?? RULES_PLAN,
    maxConcurrent: 4,
    say: (line: string) => said.push(line),
  };
  const own = { ...env, ...more.env };
  const parts = { project, agents: looksOf(own), ...loneParts(project, own, AGREES_TO_ALL) };
  const signal = more.signal ?? AbortSignal.timeout(60_000);
  const end = await planByAgent(wanted, parts, signal);
  return { end, said };
}

export type WithModel = AsyncDisposable & {
  readonly setting: Setting;
  readonly server: ModelServer;
  readonly ask: (
    more?: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
    rulesPlan?: ExecutionPlan,
    request?: string,
  ) => Promise<Asked>;
};

export async function withModel(answer: Answerer, wire: WireName = "openai-chat"): Promise<WithModel> {
  const server = await startModelServer({ answer, keys: [KEY] });
  const setting = await makeSetting({ files: FILES });
  const agent = {
    ...{
      kind: "model",
      provider: "tests",
      model: "scripted-1",
      baseUrl: `${server.url}/v1`,
      key: "MODEL_KEY",
    },
    speaks: wire === "anthropic" ? "anthropic" : "openai",
  };
  return {
    setting,
    server,
    ask: (more = {}, signal, rulesPlan, request) =>
      ask(
        setting,
        { agent, ...more },
        {
          env: { MODEL_KEY: KEY },
          ...(signal && { signal }),
          ...(rulesPlan && { rulesPlan }),
          ...(request && { request }),
        },
      ),
    [Symbol.asyncDispose]: async () => {
      await setting[Symbol.asyncDispose]();
      await server.close();
    },
  };
}

/** Every file of the checkout and of its git folder with its bytes, except git's objects, which may be added. */
export async function checkoutOf({ repository }: Setting): Promise<string> {
  const lines: string[] = [];
  for (const entry of await readdir(repository.folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const bytes = entry.isFile()
      ? createHash("sha256")
          .update(await readFile(file))
          .digest("hex")
      : "-";
    lines.push(`${path.relative(repository.folder, file)} ${bytes}`);
  }
  return lines.sort().join("\n");
}

/** Whether Skein has made no state folder. */
export const isTidy = ({ project }: Setting): boolean => !existsSync(project.stateFolder);
