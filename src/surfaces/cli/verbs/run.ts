/** `skein run`: how is a goal, or a plan, given? */
import { type AddVerb, addRepo, addSettings, examples, type PlanFirst, type RunOptions } from "./options.ts";

export const addRun: AddVerb = (program, perform) => {
  const command = program
    .command("run <goal>")
    .summary("work on a goal, or a plan, in this repository")
    .description(
      "Works on a goal: a sentence, or a file such as SPEC.md that says it. The work starts from what is committed " +
        "and lands on a branch of its own; your checkout is not touched.\n\n" +
        "A plan file (of skein plan; JSON or markdown) is run as it is: its tasks in the order of their " +
        "dependencies, by its agents, with its output files and criteria. Nobody plans then.\n\n" +
        "Ctrl-C once: what is landing is finished, the rest is kept, and `skein resume` goes on. Twice: at once.",
    );
  addRepo(command).option("--base <ref>", "the branch or commit to start from (default: HEAD)");
  addSettings(command)
    .option("--config <file>", "the configuration (default: skein.yaml at the top of the repository)")
    .option("--plan", "make a plan first, show it, and run it only if you say yes")
    .option("--yes", "with --plan: run it without asking")
    .option("--by <planner>", "with --plan: rules, or agent (default: rules)")
    .addHelpText(
      "after",
      examples(
        'skein run "add a --verbose option"  # by whoever skein doctor finds',
        "skein run SPEC.md --model anthropic/claude-sonnet-4-5 --set budget.dollars=20",
        'skein run SPEC.md --agent "my-agent --quiet" --workers 4 --gate "npm test"',
        'skein run "rename the parser" --agent ./codemod.sh --planner none --set retry.maxFailed=1',
        "skein run plan.json  # a plan of skein plan --out plan.json",
        'skein run "add search, filters and paging" --plan',
        "skein run SPEC.md --json | my-dashboard  # every event is a line",
      ),
    )
    .action((goal: string, options: RunOptions & PlanFirst) =>
      perform(async (context) => (await import("../acts/run.ts")).run(context, { goal, ...options })),
    );
};
