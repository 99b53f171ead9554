/** Finds the gate's commands for a commit: those of the configuration, or those that its own tree names. */

import { type Failed, hasFailed } from "../../core/result.ts";
import type { GateSetting } from "../../ports/gate.ts";
import { redactCommand, redactor } from "../../text/redact.ts";
import { listFiles, readBlob } from "../git/trees.ts";
import { type Detected, detectGate, GATE_FILES, isLockFile } from "./detect.ts";
import { type GateCommand, lineOf, shellCommand } from "./gate-command.ts";

export type Rules = Detected;

export type GateRules = {
  of(commit: string, signal: AbortSignal): Promise<Rules | Failed>;
};

export const gateRules = (gate: GateSetting, folder: string): GateRules =>
  gate === "auto" ? detectedRules(folder) : configuredRules(gate === "none" ? [] : gate);

/** The commands of a commit's gate, as a person would type them; none if they cannot be read. */
export const gateLinesIn =
  (folder: string) =>
  async ({ gate }: { readonly gate: GateSetting }, commit: string, signal: AbortSignal) => {
    const rules = await gateRules(gate, folder).of(commit, signal);
    return hasFailed(rules) ? [] : rules.commands.map((one) => redactCommand(lineOf(one), redactor([])));
  };

/** The same commands for every commit. Without commands, landings are not gated, and `found` says so. */
function configuredRules(commands: Exclude<GateSetting, string>): GateRules {
  const gate: readonly GateCommand[] = commands.map(({ name, run, env }) => shellCommand(name, run, env));
  const found =
    commands.length === 0
      ? "the gate is switched off in the configuration"
      : `configured: ${commands.map(({ name }) => redactCommand(name, redactor([]))).join(", ")}`;
  return { of: async () => ({ commands: gate, found }) };
}

/** Detects the commands from a commit's files, and again only if one of these files differs. */
function detectedRules(folder: string): GateRules {
  const known = new Map<string, Rules>();
  return {
    of: async (commit, signal) => {
      const listed = await listFiles({ folder, commit, paths: GATE_FILES }, signal);
      if (hasFailed(listed)) return listed;
      const key = listed.files.map(({ id, path }) => `${id} ${path}`).join("\n");
      const cached = known.get(key);
      if (cached) return cached;
      const files = new Map<string, string>();
      for (const { path, id } of listed.files) {
        // Only the name of a lock file matters, and its text may be large.
        const text = isLockFile(path) ? "" : await readBlob({ folder, id, maxBytes: MAX_FILE_BYTES }, signal);
        if (typeof text !== "string") return text;
        files.set(path, text);
      }
      const rules = detectGate((name) => files.get(name));
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(key, rules);
      return rules;
    },
  };
}

const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_KNOWN = 100;
