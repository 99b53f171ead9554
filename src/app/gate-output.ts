/** Reads the output of a gate run, what failed in it first, and the change of a failed attempt. */
import { type Failed, hasFailed } from "../core/result.ts";
import type { TaskId } from "../core/task.ts";
import type { RunFiles } from "../ports/run-files.ts";
import type { RunHome } from "../ports/runs.ts";
import { failingPart, type OutputPart } from "../text/failing-part.ts";
import { plainLines } from "../text/plain-lines.ts";
import { harmless } from "../text/words.ts";
import { prefixOf, targetOf } from "./lost-run.ts";

/**
 * The texts are safe to show: bounded, one line each, without control sequences; secrets were removed when they were
 * written. `excerpt`: what failed, or the end of a run that passed; `from` counts `lines`, from 1.
 */
export type GateOutput =
  | { readonly is: "kept"; readonly excerpt: readonly OutputPart[]; readonly lines: readonly string[] }
  | { readonly is: "missing"; readonly why: string };

type Asked = {
  readonly home: RunHome;
  /** As `gateRunsOf` names it. */
  readonly output: string;
  readonly hasPassed?: boolean;
};

export async function gateOutput(
  { home, output, hasPassed = false }: Asked,
  { files }: { readonly files: Pick<RunFiles, "output"> },
  signal: AbortSignal,
): Promise<GateOutput> {
  const text = output.length > MAX_NAME_CHARS ? undefined : await files.output(home, output, signal);
  if (text === undefined) return { is: "missing", why: NOT_KEPT };
  if (text.trim() === "") return { is: "missing", why: "It wrote nothing." };
  const lines = bounded(plainLines(text));
  const excerpt = hasPassed ? endOf(lines) : failingPart(lines.join("\n"));
  return {
    is: "kept",
    excerpt: excerpt.map((part) => ({ ...part, lines: part.lines.map(shown) })),
    lines: lines.map(shown),
  };
}

/** The end says how many tests ran. */
function endOf(lines: readonly string[]): readonly OutputPart[] {
  const from = Math.max(0, lines.length - MAX_END_LINES);
  return [{ from: from + 1, lines: lines.slice(from) }];
}

const MAX_END_LINES = 12;
const MAX_NAME_CHARS = 200;
const NOT_KEPT =
  "Its output is not kept: no command of it was started, it was removed with the run's files, or an older Skein ran it.";

export type AttemptDiff =
  | { readonly is: "kept"; readonly ref: string; readonly lines: readonly string[] }
  | { readonly is: "missing"; readonly why: string };

/** The change since the attempt left the target. */
export async function attemptDiff(
  { home, task, attempt }: { readonly home: RunHome; readonly task: TaskId; readonly attempt: number },
  { files }: { readonly files: Pick<RunFiles, "attempt"> },
  signal: AbortSignal,
): Promise<AttemptDiff | Failed> {
  const { record } = home;
  const since = [`refs/heads/${targetOf(record)}`, record.base];
  const of = { run: record.run, branches: prefixOf(record), task, attempt, since };
  const found = await files.attempt(of, signal);
  if (found === undefined) return { is: "missing", why: NO_WORK };
  if (hasFailed(found)) return found;
  if (found.diff.trim() === "") return { is: "missing", why: "It changed nothing." };
  return { is: "kept", ref: found.ref, lines: bounded(plainLines(found.diff)).map(shown) };
}

const NO_WORK =
  "No work of it is kept: it changed nothing, or its branch or its entry in `skein salvage` was removed.";

/** Longer texts are better opened in an editor. */
const MAX_LINES = 20_000;
const MAX_FIRST_LINES = 5_000;

function bounded(all: readonly string[]): readonly string[] {
  const lines = all.at(-1) === "" ? all.slice(0, -1) : all;
  if (lines.length <= MAX_LINES) return lines;
  const left = lines.length - MAX_LINES;
  const end = lines.slice(-(MAX_LINES - MAX_FIRST_LINES));
  return [...lines.slice(0, MAX_FIRST_LINES), `… ${left} lines are not shown …`, ...end];
}

const shown = (line: string): string => harmless(line.replaceAll("\t", "  "), MAX_LINE_CHARS);
const MAX_LINE_CHARS = 2_000;
