/** `skein plan`: how is a request given, and in which form is its plan wanted? */
import type { Command } from "commander";
import { type AddVerb, addRepo, collect, examples, type PlanOptions, type RepoOption } from "./options.ts";

export const addPlan: AddVerb = (program, perform) => {
  const plan = program
    .command("plan <request>")
    .summary("make a plan of a request: tasks, agents, waves, risks")
    .description(
      'Makes a plan of a request: a sentence, a file that says it, or "-" for standard input. By the agent that is ' +
        "named or configured, or by one that was found, if you say yes; else by rules, at once and without a model. " +
        "Nothing is started: skein run takes the plan's file.",
    );
  addRepo(plan)
    .option("--markdown", "write it as markdown")
    .option("--mermaid", "write it as a flowchart for Mermaid")
    .option("--out <file>", "write it to a file as well: JSON, or markdown if the name ends in .md")
    .option("--force", "with --out: also over a file that is no plan")
    .option("--ask", "ask what is not clear (default: on a terminal)")
    .option("--no-ask", "take the defaults, and say so in the plan");
  addMaking(plan).addHelpText(
    "after",
    examples(
      'skein plan "add a search with filters, sorting and paging"',
      "skein plan SPEC.md --out plan.json  # edit it, then: skein plan check plan.json && skein run plan.json",
      'skein plan "review all files in src" --max-concurrent 4 --markdown',
      'skein plan "migrate to PostgreSQL" --model anthropic/claude-sonnet-4-5',
      "git log -1 --format=%B | skein plan - --json",
    ),
  );
  plan.action((request: string, options: PlanOptions) =>
    perform(async (context) => (await import("../acts/plan.ts")).plan(context, { ...options, request })),
  );
  addCheck(plan, perform);
};

/** How a plan is made; `skein run --plan` has the same. */
const addMaking = (command: Command): Command =>
  command
    .option(
      "--max-concurrent <n>",
      "agents at once (default: workers of skein.yaml, CLAUDE_MAX_CONCURRENT, 8)",
    )
    .option(
      "--by <planner>",
      "rules: offline; agent (default: an agent that is named or configured, else rules)",
    )
    .option("--agent <agent>", "the agent to ask: a name, provider/model, a command, acp:command")
    .option("--model <provider/model>", "the model of the built-in agent to ask")
    .option("--agent-prefix [prefix]", 'put before agents\' names (without a word: "workflow-orchestrator:")')
    .option("--config <file>", "the configuration (default: skein.yaml at the top of the repository)")
    .option("--set <key=value>", "set any key of skein.yaml; may be repeated", collect);

function addCheck(plan: Command, perform: Parameters<AddVerb>[1]): void {
  const check = plan.command("check <file>");
  addRepo(check)
    // Those of `skein plan` mean nothing here; --json and --version are the program's.
    .configureHelp({ ...check.configureHelp(), visibleGlobalOptions: () => [...plan.parent!.options] })
    .summary("say what is wrong with a plan file, and where")
    .description(
      'Reads a plan file (JSON or markdown; "-" for standard input) and says every problem with its place and line. ' +
        "Exits with 0 if it can be run, 1 if not.",
    )
    .addHelpText("after", examples("skein plan check plan.json", "skein plan check plan.md --json"))
    .action((file: string, _options: RepoOption, command: Command) =>
      perform(async (context) =>
        (await import("../acts/plan-check.ts")).planCheck(context, {
          ...command.optsWithGlobals<RepoOption>(), // Options of `skein plan` are taken by it, wherever they stand.
          file,
        }),
      ),
    );
}
