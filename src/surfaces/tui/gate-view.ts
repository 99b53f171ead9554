/** Shows the output of one gate run, of a task or of the whole run, with failures first. */
import { Box } from "ink";
import { createElement as h, type ReactNode, useEffect, useState } from "react";
import { attemptDiff, gateOutput } from "../../app/gate-output.ts";
import { messageOf } from "../../core/failure.ts";
import { hasFailed } from "../../core/result.ts";
import { ROOT, type TaskId } from "../../core/task.ts";
import { type GateRunView, gateRunLabel, gateRunsOf, gateRunsOfTask } from "../../core/view/gate-runs.ts";
import type { RunFiles } from "../../ports/run-files.ts";
import type { RunHome } from "../../ports/runs.ts";
import { harmless } from "../../text/words.ts";
import type { Followed } from "./follow.ts";
import { line } from "./line.ts";

type Place = { readonly home: RunHome; readonly files: RunFiles };

type GateProps = Place & {
  readonly followed: Followed;
  readonly task: TaskId | undefined;
  /** How many runs before the newest one. */
  readonly back: number;
  readonly isWhole: boolean;
  readonly scrolled: number;
  readonly lines: number;
};

export function GateView({ followed, task, back, isWhole, scrolled, lines, ...place }: GateProps): ReactNode {
  const runs = gateRunsShown(followed, task);
  const at = Math.max(0, runs.length - 1 - back);
  const run = runs[at];
  const said = useOutput(place, run, isWhole);
  if (!run) return line("No gate has run for it yet.");
  const room = Math.max(1, lines - 2);
  const first = Math.max(0, Math.min(scrolled, said.length - room));
  const more = said.length > room ? `, lines ${first + 1} to ${first + room} of ${said.length}` : "";
  const keys = `w ${isWhole ? "less" : "all of it"}${runs.length > 1 ? "  [ earlier  ] later" : ""}`;
  const color = run.green === undefined ? {} : { color: run.green ? "green" : "red" };
  return h(
    Box,
    { flexDirection: "column" },
    line(harmless(gateRunLabel(run), 300), { bold: true, ...color }),
    line(`gate run ${at + 1} of ${runs.length}${more}  ${keys}`, { dimColor: true }),
    ...said.slice(first, first + room).map((text, i) => line(text, { key: `${i}` })),
  );
}

const gateRunsShown = ({ seen }: Followed, task: TaskId | undefined): readonly GateRunView[] =>
  task === undefined || task === ROOT ? gateRunsOf(seen) : gateRunsOfTask(seen, task);

/** Read again when the gate run has ended. */
function useOutput(
  { home, files }: Place,
  run: GateRunView | undefined,
  isWhole: boolean,
): readonly string[] {
  const [lines, setLines] = useState<readonly string[]>(["…"]);
  const { output, green, isRunning } = run ?? {};
  useEffect(() => {
    if (output === undefined) return;
    return showing(setLines, async (signal) => {
      const read = await gateOutput({ home, output, hasPassed: green === true }, { files }, signal);
      if (read.is === "missing") return [isRunning ? "It runs, and has written nothing yet." : read.why];
      if (isWhole) return read.lines;
      return read.excerpt.flatMap((part, i) => (i === 0 ? part.lines : ["…", ...part.lines]));
    });
  }, [home, files, output, green, isRunning, isWhole]);
  return lines;
}

/** The change of a failed attempt; nothing is read without an attempt. */
export function useAttemptDiff(
  { home, files }: Place,
  task: TaskId,
  attempt: number | undefined,
): readonly string[] {
  const [lines, setLines] = useState<readonly string[]>(["…"]);
  useEffect(() => {
    if (attempt === undefined) return;
    return showing(setLines, async (signal) => {
      const read = await attemptDiff({ home, task, attempt }, { files }, signal);
      if (hasFailed(read)) return [harmless(read.failure.message)];
      return read.is === "kept" ? [read.ref, ...read.lines] : [read.why];
    });
  }, [home, files, task, attempt]);
  return lines;
}

/** Returns a function that ends it, so that a removed component is not updated. */
function showing(
  show: (lines: readonly string[]) => void,
  read: (signal: AbortSignal) => Promise<readonly string[]>,
): () => void {
  const stop = new AbortController();
  show(["…"]);
  read(stop.signal)
    .catch((error: unknown) => [harmless(messageOf(error))])
    .then((lines) => stop.signal.aborted || show(lines));
  return () => stop.abort();
}
