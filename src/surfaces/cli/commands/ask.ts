/** `skein ask`: asks a question from a worker's program. */
import { type AddTo, type AskOptions, examples } from "./options.ts";

export const addAsk: AddTo = (command, perform) => {
  command
    .description(
      "For programs that work on a task of a run: asks a question that the task and the repository do not answer. " +
        "The program must end after the call. Skein starts it again in the same conversation, with the answer, or with " +
        "the default if no answer came in time, in the file that $SKEIN_RESPONSE names. A turn can make one call: this " +
        "or `skein subtask spawn`. See docs/agents.md.",
    )
    .option("--default <text>", "the answer to use if none comes in time")
    .option("--wait <time>", "how long to wait, such as 90s or 10m")
    .addHelpText(
      "after",
      examples(
        '"$SKEIN" ask "Which licence?" --default MIT --wait 10m && exit 0',
        `node -p 'require(process.env.SKEIN_RESPONSE).result.content'  # in the next turn`,
      ),
    )
    .action((question: string, options: AskOptions) =>
      perform(async (context) => (await import("../acts/call.ts")).ask(context, { ...options, question })),
    );
};
