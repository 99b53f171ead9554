/** Which commands are the gate of a commit? Those of the configuration, or those that its own tree names. */

import { redactCommand, redactor } from "../../core/redact.ts";
import type { Failed } from "../../ports/repository.ts";
import { git } from "../git/git.ts";
import { type Detected, detectGate, GATE_FILES, isLockFile } from "./detect.ts";
import { type GateCommand, shellCommand } from "./gate-command.ts";

export type Rules = Detected;

export type GateRules = {
  /** The gate as the tree of `commit` has it. */
  of(commit: string, signal: AbortSignal): Promise<Rules | Failed>;
};

export type ConfiguredCommand = { readonly name: string; readonly run: string };

/** The same for every commit. None at all: landings are not gated, and say so. */
export function configuredRules(commands: readonly ConfiguredCommand[]): GateRules {
  const gate: readonly GateCommand[] = commands.map(({ name, run }) => shellCommand(name, run));
  const found =
    commands.length === 0
      ? "the gate is switched off in the configuration"
      : `configured: ${commands.map(({ name }) => redactCommand(name, redactor([]))).join(", ")}`;
  return { of: async () => ({ commands: gate, found }) };
}

/** Read from the commit itself, and read again only where one of the files differs. */
export function detectedRules(folder: string): GateRules {
  const known = new Map<string, Rules>();
  return {
    of: async (commit, signal) => {
      const listed = await git(
        { folder, args: ["ls-tree", "-z", "--full-tree", commit, "--", ...GATE_FILES] },
        signal,
      );
      if (!listed.ok) return { failure: listed.failure };
      const cached = known.get(listed.out);
      if (cached) return cached;
      const files = new Map<string, string>();
      for (const { name, blob } of blobsOf(listed.out)) {
        if (isLockFile(name)) {
          files.set(name, ""); // That it is there is all that matters, and it may be large.
          continue;
        }
        const text = await git(
          { folder, args: ["cat-file", "blob", blob], maxBytes: MAX_FILE_BYTES },
          signal,
        );
        if (!text.ok) return { failure: text.failure };
        files.set(name, text.out);
      }
      const rules = detectGate((name) => files.get(name));
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(listed.out, rules);
      return rules;
    },
  };
}

const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_KNOWN = 100;

/** Lines of `ls-tree -z`: "mode type id<TAB>name". Links and folders of these names are not files. */
const blobsOf = (listing: string) =>
  listing.split("\0").flatMap((line) => {
    const [, mode, blob, name] = /^(\d+) blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
    return mode?.startsWith("100") && blob && name ? [{ name, blob }] : [];
  });
