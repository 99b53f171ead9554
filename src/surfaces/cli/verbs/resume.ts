/** `skein resume`: which run goes on, and with which changes? */
import { type AddVerb, addRepo, addSettings, examples, type ResumeOptions } from "./options.ts";

export const addResume: AddVerb = (program, perform) => {
  const command = program
    .command("resume [run]")
    .summary("go on with a run that was stopped, paused or killed")
    .description(
      "Goes on with a run that was stopped, paused or killed, by default the newest that is not closed. What was " +
        "durable is not done again. The run keeps the configuration that it was started with; flags and --set " +
        "change it from here on. Of a run that stopped because its gate or its workspaces could not be set up, what " +
        "skein.yaml says about these is read again.",
    );
  addSettings(addRepo(command))
    .addHelpText("after", examples("skein resume", "skein resume 1115-k7qd --workers 2"))
    .action((run: string | undefined, options: ResumeOptions) =>
      perform(async (context) =>
        (await import("../acts/resume.ts")).resume(
          context,
          run === undefined ? options : { ...options, run },
        ),
      ),
    );
};
