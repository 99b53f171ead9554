/** `skein subtask`: which template is run, with which inputs, and which templates are there? */
import {
  type AddVerb,
  addRepo,
  collect,
  examples,
  type SubtaskListOptions,
  type SubtaskRunOptions,
} from "./options.ts";

export const addSubtask: AddVerb = (program, perform) => {
  const subtask = program
    .command("subtask")
    .helpCommand(false)
    .summary("run a template of .skein/templates by an agent")
    .description(
      "Runs a task that is written down as a template, outside of any run. The task may hand parts of its work to " +
        "other templates, and ask. See docs/subtasks.md.",
    )
    .addHelpText(
      "after",
      examples(
        "skein subtask list",
        "skein subtask run verify --input code=@src/cli.ts  # see: skein help subtask run",
      ),
    );
  const run = subtask
    .command("run <template>")
    .summary("run a template; the result is JSON on standard output")
    .description(
      "Runs a template of .skein/templates by the configured agent, in a copy of what is committed, of which nothing " +
        "stays. The result is JSON on standard output, what happens is told on standard error. A question is asked on " +
        "a terminal; elsewhere its default is taken, and without one the task fails.\n\n" +
        "Exits with 0 if the task is COMPLETE, with 1 if it has FAILED. Ctrl-C stops it and all that it started.",
    );
  addRepo(run)
    .option(
      "--input <key=value>",
      "an input: key=text, key=@file, key:=JSON, key:=@file; may be repeated",
      collect,
    )
    .option("--agent <agent>", "who works: a name, provider/model, a command, acp:command")
    .option("--model <provider/model>", "the model of the built-in agent")
    .option(
      "--allow-code",
      "import templates that are modules, and run scripts of loops: code of the repository",
    )
    .option("--config <file>", "the configuration (default: skein.yaml at the top of the repository)")
    .option("--set <key=value>", "set any key of skein.yaml; may be repeated", collect)
    .addHelpText(
      "after",
      examples(
        "skein subtask run verify --input code=@src/cli.ts",
        'skein subtask run summarise --input text="Hello" --model anthropic/claude-sonnet-4-5',
        `skein subtask run review-all --input files:='["a.ts", "b.ts"]' --agent ./my-agent.sh`,
        "skein subtask run verify --input code=@src/cli.ts 2>/dev/null | jq -r .content",
      ),
    )
    .action((template: string, options: SubtaskRunOptions) =>
      perform(async (context) =>
        (await import("../acts/subtask.ts")).subtaskRun(context, { ...options, template }),
      ),
    );
  addRepo(subtask.command("list"))
    .summary("which templates there are, and what is wrong with the others")
    .description(
      "Shows the templates of .skein/templates with their inputs. Exits with 1 if one of them cannot be used.",
    )
    .option("--allow-code", "import templates that are modules, too, which runs them")
    .addHelpText("after", examples("skein subtask list", "skein subtask list --json"))
    .action((options: SubtaskListOptions) =>
      perform(async (context) => (await import("../acts/subtask-list.ts")).subtaskList(context, options)),
    );
};
