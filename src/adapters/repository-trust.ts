/** Looks up what a repository's files ask for besides its configuration, and which gate would be detected in it. */
import { existsSync } from "node:fs";
import path from "node:path";
import { hasFailed } from "../core/result.ts";
import type { Environment, Located } from "../ports/project.ts";
import type { TemplateFile } from "../ports/subtasks.ts";
import type { TrustAsk, TrustParts } from "../ports/trust.ts";
import { mcpFileIn } from "./agents/acp/mcp-file.ts";
import { serverAsks } from "./agents/acp/mcp-servers.ts";
import { readText } from "./files/read-bounded.ts";
import { detectGate, GATE_FILES, isLockFile } from "./gates/detect.ts";
import { lineOf } from "./gates/gate-command.ts";
import { gateRules } from "./gates/rules.ts";
import { lfsAsks } from "./git/lfs.ts";
import { promptAsks } from "./prompts.ts";
import { openUntrusted } from "./runs/open-project.ts";
import { readSpecialists, roleAsk } from "./specialists.ts";
import { templateFiles } from "./templates.ts";
import { includeAsk, includedIn } from "./workspaces/included.ts";

/** `templates`: the folder of templates, relative to the top; `asksOf`: what one of them asks for. */
export const repositoryTrust = (
  env: Environment,
  templates: string,
  asksOf: (file: TemplateFile) => readonly TrustAsk[],
): TrustParts => ({
  open: (folder, signal) => openUntrusted(folder, env, signal),
  fileAsks: async (top, prompts) => {
    const [servers, roles, patterns, texts, files, lfs] = await Promise.all([
      mcpFileIn(top),
      ROLES.some((folder) => existsSync(path.join(top, folder))) ? readSpecialists(top) : NO_ROLES,
      includedIn(top),
      prompts === undefined ? [] : promptAsks(path.resolve(top, prompts)),
      templateFiles(path.join(top, templates), false),
      lfsAsks(top),
    ]);
    return [
      ...(servers === undefined ? [] : serverAsks(servers)),
      ...roles.specialists.map(roleAsk),
      ...(patterns.length === 0 ? [] : [includeAsk(patterns)]),
      ...texts,
      ...files.flatMap(asksOf),
      ...lfs,
    ];
  },
  detected: ({ located, gitAsks }) => detectedGate(located, gitAsks.length === 0),
});

const ROLES = [".claude/agents", ".skein/agents"];
const NO_ROLES = { specialists: [] };

/**
 * Detects the gate from the files of the checkout, since git may not be asked for a commit before its settings are
 * agreed to; in a bare repository from its commit, unless its settings ask for something.
 */
async function detectedGate({ top, gitDir, head }: Located, isQuiet: boolean): Promise<readonly string[]> {
  if (top === gitDir) {
    const rules = isQuiet ? await gateRules("auto", top).of(head, AbortSignal.timeout(MAX_MS)) : undefined;
    return rules && !hasFailed(rules) ? rules.commands.map(lineOf) : [];
  }
  const texts = new Map<string, string>();
  for (const name of GATE_FILES) {
    const read = await readText(path.join(top, name), isLockFile(name) ? MAX_LOCK_BYTES : MAX_BYTES);
    if (read && "text" in read) texts.set(name, read.text);
  }
  return detectGate((name) => texts.get(name)).commands.map(lineOf);
}

const MAX_MS = 20_000;
const MAX_BYTES = 1024 * 1024;
const MAX_LOCK_BYTES = 64 * 1024 * 1024;
