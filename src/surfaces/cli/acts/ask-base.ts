/** Asks on a terminal what happens to a run whose base fails its gate. */
import type { LiveRun } from "../../../app/follow-run.ts";
import type { Event } from "../../../core/log/event.ts";
import { BASE_QUESTION } from "../../../core/subtask.ts";
import { harmlessLines } from "../../../text/words.ts";
import { type Context, say } from "../context.ts";
import { processInput, type TypedInput } from "../input.ts";
import { canAsk } from "./can-ask.ts";

type BaseAsking = {
  readonly watch: (event: Event) => void;
  /** The run is there to be told. */
  readonly live: (run: Pick<LiveRun, "say" | "seen">) => void;
  /** Nobody will be asked any more. */
  readonly end: () => Promise<void>;
};

/** Does nothing where nobody could answer: then the run takes its default in time, and says so. */
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
    void ask(lines).catch(() => {}); // The terminal is gone: the default is taken in time.
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
      // Of a run that goes on, it may have been asked by a process that was killed.
      const asked = run.seen.state.questions.get(BASE_QUESTION);
      if (asked) begin(harmlessLines(asked.text));
    },
    end: async () => {
      isOpen = false;
      await typing?.close();
    },
  };
}

/** The lines of the question that say what each answer does; what fails was shown above. */
const ANSWERS = 3;
