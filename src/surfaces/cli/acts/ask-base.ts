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
  readonly live: (run: Pick<LiveRun, "say">) => void;
  /** Nobody will be asked any more. */
  readonly end: () => Promise<void>;
};

/** Does nothing where nobody could answer: then the run takes its default in time, and says so. */
export function askingOfBase(
  context: Context,
  write: (text: string) => void,
  input: () => TypedInput = processInput,
): BaseAsking {
  const run = Promise.withResolvers<Pick<LiveRun, "say">>();
  const typing = canAsk(context, input) ? input() : undefined;
  let isOpen = false;
  const ask = async (text: string): Promise<void> => {
    for (const line of harmlessLines(text).slice(-ANSWERS)) write(line);
    const live = await run.promise;
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
      if (event.type !== "base.failed" || !event.asked || !typing) return;
      isOpen = true;
      void ask(event.asked.text).catch(() => {}); // The terminal is gone: the default is taken in time.
    },
    live: run.resolve,
    end: async () => {
      isOpen = false;
      await typing?.close();
    },
  };
}

/** The lines of the question that say what each answer does; what fails was shown above. */
const ANSWERS = 3;
