/** Checks that an overloaded machine loses no answer: many workers answer at the same moment, beside busy loops. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { TaskId } from "../../src/core/task.ts";
import { configOf, makeSetting, runGoal } from "../support/live-runs.ts";
import type { Trial } from "./trial.ts";

export type Overload = {
  readonly workers?: number;
  /** How often all workers answer together. */
  readonly waves?: number;
  /** How many processes run beside the workers only to keep a processor busy. */
  readonly loops?: number;
};

export type Overloaded = Trial & { readonly answers: number; readonly lost: number; readonly landed: number };

/** Checks that every answer is in the log, and that only work lands which its worker reported as complete. */
export async function overload({ workers = 50, waves = 3, loops = 3 }: Overload = {}): Promise<Overloaded> {
  await using setting = await makeSetting({ files: { "a.txt": "a\n" } });
  const [agent, said] = ["agent.sh", "said"].map((name) => path.join(setting.folder, name)) as [
    string,
    string,
  ];
  await mkdir(said);
  const keys = Array.from({ length: workers * waves }, (_, n) => `${STATUSES[n % STATUSES.length]}-${n}`);
  await writeFile(agent, agentOf(keys, workers, said));
  const config = configOf({
    agent: { kind: "command", command: ["sh", agent] },
    ...{ workers, gate: "none", "retry.maxFailed": 1 },
  });
  const busy = Array.from({ length: loops }, keepBusy);
  try {
    const { events, end } = await runGoal(setting, config);
    const log = JSON.stringify(events);
    const spoken = await readdir(said);
    const lost = spoken.filter((answer) => !log.includes(wordsOf(answer)));
    const keyOf = (task: TaskId) =>
      end.is === "lost" ? task : (end.state.tasks.get(task)?.spec.key ?? task);
    const members = events.flatMap((e) => (e.type === "batch.landed" ? e.members : []));
    const landed = members.map(({ task }) => keyOf(task)).filter((key) => !key.startsWith("complete"));
    const violations = [
      ...(end.is === "closed" ? [] : [`the run ended as ${end.is}`]),
      ...(spoken.length >= keys.length ? [] : [`only ${spoken.length} of ${keys.length} workers answered`]),
      ...lost.map((answer) => `the answer of ${answer} was lost`),
      ...landed.map((key) => `${key} landed`),
    ];
    return { kills: 0, violations, answers: spoken.length, lost: lost.length, landed: landed.length };
  } finally {
    for (const child of busy) child.kill("SIGKILL");
  }
}

const STATUSES = ["partial", "complete", "failed"] as const;

/** The text is in the worker's summary, which the log keeps whatever the attempt's outcome was. */
const wordsOf = (answer: string) => `the words of ${answer}`;

/**
 * Writes an agent whose planner asks for all tasks at once, and whose workers learn from their task's name how to end.
 * Each worker changes a file, waits until its whole wave is there, reports how it went, and exits at once.
 */
function agentOf(keys: readonly string[], workers: number, said: string): string {
  const tasks = keys.map((id) => ({ id, description: id, acceptance: id, scope: [`${id}.txt`] }));
  const plan = JSON.stringify({ scratchpad: "all", tasks });
  return `
    if [ "$SKEIN_KIND" = plan ]; then
      if [ "$SKEIN_TURN" = 1 ]; then echo '${plan}'; else echo '{"scratchpad": "", "tasks": []}'; fi
      exit 0
    fi
    key=$(sed 's/.*"key":"\\([^"]*\\)".*/\\1/' "$SKEIN_BRIEF")
    answer="$key.$SKEIN_ATTEMPT"
    echo made > "$key.txt"
    : > '${said}'/"$answer"
    all=$(( (\${key#*-} / ${workers} + 1) * ${workers} ))
    tries=0
    while [ $tries -lt ${MAX_TRIES} ] && set -- '${said}'/* && [ $# -lt $all ]; do tries=$((tries + 1)); sleep 0.1; done
    echo "{\\"status\\": \\"\${key%%-*}\\", \\"summary\\": \\"${wordsOf("$answer")}\\"}"
  `;
}

/** In tries of a tenth of a second each: a wave that is not complete by then goes on without the missing workers. */
const MAX_TRIES = 600;

/** Starts a busy loop, which also ends by itself in case nothing stops it. */
const keepBusy = (): ChildProcess =>
  spawn(process.execPath, ["-e", "for (const end = Date.now() + 600_000; Date.now() < end; );"], {
    stdio: "ignore",
  });
