/** `skein subtask`: which template is run, which are there, and what does a worker's program hand to another? */
import { type Command, Option } from "commander";
import type { Perform } from "../context.ts";
import {
  type AddVerb,
  addRepo,
  collect,
  examples,
  type SpawnOptions,
  type SubtaskListOptions,
  type SubtaskRunOptions,
} from "./options.ts";

export const addSubtask: AddVerb = (program, perform) => {
  const subtask = program
    .command("subtask")
    .helpCommand(false)
    .summary("run a template of .skein/templates by an agent; in a worker's program: call for a subtask")
    .description(
      "Runs a task that is written down as a template, outside of any run. The task may hand parts of its work to " +
        "other templates, and ask. `spawn` is for programs that work on a task of a run: it hands a part of that to " +
        "another worker. See docs/subtasks.md.",
    )
    .addHelpText(
      "after",
      examples(
        "skein subtask list",
        "skein subtask run verify --input code=@src/cli.ts  # see: skein help subtask run",
        `"$SKEIN" subtask spawn verification "Run all tests"  # in a worker's program`,
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
  addSpawn(subtask, perform);
  subtask
    .command("serve", { hidden: true })
    .description(
      "For agents that take MCP servers only as programs: Skein's tools, on standard input and output.",
    )
    .action(() => perform(async (context) => (await import("../acts/call.ts")).subtaskServe(context, {})));
};

function addSpawn(subtask: Command, perform: Perform): void {
  subtask
    .command("spawn [type] [description]")
    .summary("in a worker's program: hand a part of the task to another worker")
    .description(
      "For programs that work on a task of a run: another worker gets this part, in a folder that begins as yours is " +
        "now. The program is to end after it. It is started again in the same conversation when the subtask has " +
        "ended, with its result in the file that $SKEIN_RESPONSE names, and with what it changed in the folder. One " +
        "call, of this or of `skein ask`, can be made in a turn. See docs/agents.md.",
    )
    .option(
      "--input <key=value>",
      "an input: key=text, key=@file, key:=JSON, key:=@file; may be repeated",
      collect,
    )
    .option("--file <path>", "a file that it is given to read; may be repeated", collect)
    .option("--hint <word>", "a word by which its template is found; may be repeated", collect)
    .option("--expect <text>", "what its result must look like: a JSON Schema, or json, text, list, number …")
    .option("--max-depth <n>", "levels of subtasks that it may use, its own included")
    .addOption(
      new Option("--inherit <what>", "what it knows of this conversation").choices([
        "full",
        "none",
        "subset",
      ]),
    )
    .option("--request <json>", "the whole request as JSON; - reads it from standard input")
    .addHelpText(
      "after",
      examples(
        `"$SKEIN" subtask spawn verification "Run all tests and say what fails" && exit 0`,
        `"$SKEIN" subtask spawn docs "Document the API" --file src/api.ts --input style=short --expect markdown`,
        `echo '{"type": "search", "description": "Who calls parse?"}' | "$SKEIN" subtask spawn --request -`,
      ),
    )
    .action((type: string | undefined, description: string | undefined, options: SpawnOptions) =>
      perform(async (context) =>
        (await import("../acts/call.ts")).subtaskSpawn(context, {
          ...options,
          ...(type !== undefined && { type }),
          ...(description !== undefined && { description }),
        }),
      ),
    );
}
