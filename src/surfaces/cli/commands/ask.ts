/** `skein ask`: what does a worker's program want to know? */
import { type AddTo, type AskOptions, examples } from "./options.ts";

export const addAsk: AddTo = (command, perform) => {
  command
    .description(
      "For programs that work on a task of a run: asks a question that the task and the repository do not answer. " +
        "The program is to end after it. It is started again in the same conversation, with the answer in the file " +
        "that $SKEIN_RESPONSE names, when somebody has answered, or with the default when nobody did in time. One " +
        "call, of this or of `skein subtask spawn`, can be made in a turn. See docs/agents.md.",
    )
    .option("--default <text>", "what counts as the answer if none comes in time")
    .option("--wait <time>", "how long to wait for it, such as 90s or 10m")
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
