/** `skein run`: how is a goal given? */
import { type AddVerb, addRepo, addSettings, examples, type RunOptions } from "./options.ts";

export const addRun: AddVerb = (program, perform) => {
  const command = program
    .command("run <goal>")
    .summary("work on a goal in this repository")
    .description(
      "Works on a goal: a sentence, or a file such as SPEC.md that says it. The work starts from what is committed " +
        "and lands on a branch of its own; your checkout is not touched.\n\n" +
        "Ctrl-C once: what is landing is finished, the rest is kept, and `skein resume` goes on. Twice: at once.",
    );
  addRepo(command).option("--base <ref>", "the branch or commit to start from (default: HEAD)");
  addSettings(command)
    .option("--config <file>", "the configuration (default: skein.yaml at the top of the repository)")
    .addHelpText(
      "after",
      examples(
        'skein run "add a --verbose option"  # by whoever skein doctor finds',
        "skein run SPEC.md --model anthropic/claude-sonnet-4-5 --set budget.dollars=20",
        'skein run SPEC.md --agent "my-agent --quiet" --workers 4 --gate "npm test"',
        'skein run "rename the parser" --agent ./codemod.sh --planner none --set retry.maxFailed=1',
        "skein run SPEC.md --json | my-dashboard  # every event is a line",
      ),
    )
    .action((goal: string, options: RunOptions) =>
      perform(async (context) => (await import("../acts/run.ts")).run(context, { goal, ...options })),
    );
};
