/** Asks on a terminal what to do with a run whose base fails its gate. */
import type { LiveRun } from "../../../app/follow-run.ts";
import type { Event } from "../../../core/log/event.ts";
import { BASE_QUESTION } from "../../../core/subtask.ts";
import { harmlessLines } from "../../../text/words.ts";
import { type Context, say } from "../context.ts";
import { processInput, type TypedInput } from "../input.ts";
import { canAsk } from "./can-ask.ts";

type BaseAsking = {
  readonly watch: (event: Event) => void;
  /** The run exists and can take the answer. */
  readonly live: (run: Pick<LiveRun, "say" | "seen">) => void;
  /** Ends the question: no answer is read any more. */
  readonly end: () => Promise<void>;
};

/** Does nothing if no person can answer: the run then takes its default in time, and reports that. */
export function askingOfBase(
  context: Context,
  write: (text: string) => void,
  input: () => TypedInput = processInput,
): BaseAsking {
  const started = Promise.withResolvers<Pick<LiveRun, "say">>();
  const typing = canAsk(context, input) ? input() : undefined;
  let isOpen = false;
  const begin = (lines: readonly string[]): void => {
    if (isOpen || !typing) return;
    isOpen = true;
    void ask(lines).catch(() => {}); // The terminal is gone: the run takes its default in time.
  };
  const ask = async (lines: readonly string[]): Promise<void> => {
    for (const line of lines) write(line);
    const live = await started.promise;
    while (isOpen && typing) {
      context.err.write("repair, continue or stop? ");
      const line = await typing.line();
      if (line === undefined || !isOpen) return;
      const heard = await live.say({ type: "answer", question: BASE_QUESTION, text: line });
      if (heard.is === "heard") return;
      say(context, heard.reason);
    }
  };
  return {
    watch: (event) => {
      if (event.type === "base.answered" || event.type === "run.cancel-requested") isOpen = false;
      if (event.type === "base.failed" && event.asked) begin(harmlessLines(event.asked.text).slice(-ANSWERS));
    },
    live: (run) => {
      started.resolve(run);
      // In a resumed run the question may have been asked by a process that was killed.
      const asked = run.seen.state.questions.get(BASE_QUESTION);
      if (asked) begin(harmlessLines(asked.text));
    },
    end: async () => {
      isOpen = false;
      await typing?.close();
    },
  };
}

/** The last lines of the question, which say what each answer does; the failures above them were shown already. */
const ANSWERS = 3;
