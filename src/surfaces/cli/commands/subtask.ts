/** `skein subtask`: runs a template, lists the templates, and lets a worker's program delegate. */

import { type Command, Option } from "commander";
import { settleAgents } from "../../../app/ready-agents.ts";
import { runSubtask, type SubtaskEnd } from "../../../app/run-subtask.ts";
import { loneParts } from "../../../compose/agents.ts";
import { looksOf } from "../../../compose/planning.ts";
import { templatesOf } from "../../../compose/roles.ts";
import { hasFailed } from "../../../core/result.ts";
import { AGREES_TO_ALL, agreesTo } from "../../../ports/trust.ts";
import type { SubtaskEvent, TaskQuestion } from "../../../subtasks/live-task.ts";
import {
  type FoundTemplate,
  type RepositoryTemplates,
  TEMPLATES_FOLDER,
} from "../../../subtasks/repository-templates.ts";
import type { Template } from "../../../subtasks/template.ts";
import { closest } from "../../../text/closest.ts";
import { harmless } from "../../../text/words.ts";
import { type Exit, hasExit, NEVER, openHere } from "../acts/project.ts";
import { stopOnSignal } from "../acts/signals.ts";
import { onPage } from "../columns.ts";
import { configure } from "../configuration.ts";
import { type Act, type Context, type Perform, refuse, say, usage, writeJson } from "../context.ts";
import { EXIT, type ExitCode, exitOfFailure } from "../exit-codes.ts";
import type { TypedInput } from "../input.ts";
import { sayRefused } from "../refusals.ts";
import {
  type AddTo,
  addRepo,
  collect,
  examples,
  type RepoOption,
  type SettingOptions,
  type SpawnOptions,
} from "./options.ts";
import { readInputs } from "./subtask-inputs.ts";

type ListOptions = RepoOption & { readonly allowCode?: true };
type RunTemplateOptions = ListOptions &
  Pick<SettingOptions, "agent" | "model" | "set"> & {
    readonly input?: readonly string[];
    readonly config?: string;
  };

export const addSubtask: AddTo = (command, perform) => {
  const subtask = command
    .helpCommand(false)
    .description(
      "Runs a task that is described by a template, outside of any run. The task may delegate to other templates and " +
        "ask questions. `spawn` is for a program that works on a task of a run: it delegates a part of the task to " +
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
      "Runs a template of .skein/templates with the configured agent, in a temporary copy of the committed files. " +
        "Prints the result as JSON on standard output and progress on standard error. Questions are asked on a " +
        "terminal; elsewhere their default is used, and without a default the task fails.\n\n" +
        "Exit code 0: the task is COMPLETE; 1: it has FAILED. Ctrl-C stops it and everything that it started.",
    );
  addRepo(run)
    .option(
      "--input <key=value>",
      "an input: key=text, key=@file, key:=JSON, key:=@file; may be repeated",
      collect,
    )
    .option("--agent <agent>", "the agent: a name, provider/model, a command, acp:command")
    .option("--model <provider/model>", "the model of the built-in agent")
    .option("--allow-code", "run code of the repository: templates that are modules, and scripts of loops")
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
    .action((template: string, options: RunTemplateOptions) =>
      perform(async (context) => subtaskRun(context, { ...options, template })),
    );
  addRepo(subtask.command("list"))
    .summary("list the templates, and the problems of those that cannot be used")
    .description(
      "Lists the templates of .skein/templates with their inputs. Exit code 1: one of them cannot be used.",
    )
    .option("--allow-code", "also import (and so run) templates that are modules")
    .addHelpText("after", examples("skein subtask list", "skein subtask list --json"))
    .action((options: ListOptions) => perform(async (context) => subtaskList(context, options)));
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
    .summary("in a worker's program: delegate a part of the task to another worker")
    .description(
      "For programs that work on a task of a run: delegates a part to another worker, in a copy of the current folder. " +
        "The program must end after the call. Skein starts it again in the same conversation when the subtask has " +
        "ended, with its result in the file that $SKEIN_RESPONSE names, and with its changes in the folder. A turn can " +
        "make one call: this or `skein ask`. See docs/agents.md.",
    )
    .option(
      "--input <key=value>",
      "an input: key=text, key=@file, key:=JSON, key:=@file; may be repeated",
      collect,
    )
    .option("--file <path>", "a file for it to read; may be repeated", collect)
    .option("--hint <word>", "a word to match its template; may be repeated", collect)
    .option("--expect <text>", "what its result must look like: a JSON Schema, or json, text, list, number …")
    .option("--max-depth <n>", "levels of subtasks that it may use, its own included")
    .addOption(
      new Option("--inherit <what>", "what it gets of this conversation").choices(["full", "none", "subset"]),
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

type Wanted = RunTemplateOptions & { readonly template: string; readonly input?: readonly string[] };

const subtaskRun: Act<Wanted> = async (context, wanted) => {
  const project = await openHere(context, wanted);
  if (hasExit(project)) return project.exit;
  const allowCode = wanted.allowCode === true;
  const configured = await configure(context, project, wanted);
  if (hasExit(configured)) return configured.exit;
  const agrees = agreesTo(configured.agreed);
  const templates = await templatesOf(project.located.top, allowCode, agrees);
  const template = named(context, templates, wanted.template);
  if (hasExit(template)) return template.exit;
  const read = await readInputs(wanted.input ?? [], template, context.folder);
  if ("problem" in read) return usage(context, read.problem);
  const looks = { project, env: context.env, agents: looksOf(context.env) };
  const settled = await settleAgents({ config: configured.config, mayFind: true }, looks, NEVER);
  if (hasFailed(settled)) return sayRefused(context, settled);
  const { config } = settled;
  const tell = teller(context);
  for (const notice of [...configured.notices, ...settled.notices]) tell(notice);
  using stopping = stopOnSignal();
  const unanswered = new AbortController();
  await using person = personAt(context, unanswered);
  const end = await runSubtask(
    {
      ...{ config, spec: config.agent!, template, inputs: read.inputs, allowCode, say: tell },
      registry: templates.registry,
      ask: person.ask,
      onEvent: (event) => tell(eventText(event)),
    },
    { ...loneParts(project, context.env, agrees), project },
    AbortSignal.any([stopping.signal, unanswered.signal]),
  );
  if (hasFailed(end)) {
    const { failure } = end;
    return refuse(
      context,
      stopping.signal.aborted ? EXIT.interrupted : exitOfFailure(failure.kind, EXIT.configuration),
      failure,
    );
  }
  return ended(context, end, stopping.signal.aborted);
};

/** Finds a template by name; else reports what is wrong with its file, or suggests similar names. */
function named(context: Context, { registry, found }: RepositoryTemplates, name: string): Template | Exit {
  const template = registry.get(name);
  if (template !== undefined) return template;
  const stem = (file: string) => file.slice(TEMPLATES_FOLDER.length + 1).replace(/\.\w+$/, "");
  const file = found.find((one) => stem(one.file) === name);
  if (file?.is === "template") return file.template;
  if (file?.is === "wrong") {
    const message = `the template ${file.file} cannot be used: ${file.why}`;
    return { exit: refuse(context, EXIT.configuration, { kind: "configuration", message }) };
  }
  if (file?.is === "code")
    return {
      exit: usage(
        context,
        `${file.file} is a module: importing it would run it`,
        "read it, then add --allow-code",
      ),
    };
  const names = found.flatMap((one) => (one.is === "template" ? one.template.name : []));
  const near = closest(name, names);
  const known = near.length > 0 ? `did you mean ${near.join(", ")}?` : "skein subtask list shows all";
  return { exit: usage(context, `there is no template ${name.slice(0, 80)} in ${TEMPLATES_FOLDER}`, known) };
}

/** Prints lines for people; with JSON only the result is printed. */
const teller =
  ({ json, err }: Context) =>
  (line: string): void => {
    if (!json) err.write(`${harmless(line, MAX_LINE_CHARS)}\n`);
  };

const MAX_LINE_CHARS = 500;

function eventText(event: SubtaskEvent): string {
  switch (event.is) {
    case "spawned":
      return `${event.task.id} ${event.task.template} (${event.task.type}) begins`;
    case "asked":
      return `${event.question.task} asks: ${event.question.text}`;
    case "answered":
      return `${event.question.task} was answered by ${event.by}`;
    case "ended": {
      const { status, notes } = event.result;
      return `${event.id} ${status}${notes.error === undefined ? "" : `: ${notes.error.message}`}`;
    }
    case "late":
      return `${event.id} answered too late: ${event.result.status}`;
  }
}

type Person = AsyncDisposable & {
  readonly ask: (question: TaskQuestion, signal: AbortSignal) => Promise<string | undefined>;
};

/** Answers questions on a terminal. Elsewhere the default is used, and a question without one stops everything. */
function personAt({ err, json, input: open }: Context, unanswered: AbortController): Person {
  let opened: TypedInput | undefined;
  const keyboard = () => {
    if (json || err.size === undefined) return undefined;
    opened ??= open();
    return opened.isTerminal ? opened : undefined;
  };
  return {
    ask: async ({ text, default: usual, task }, signal) => {
      const input = keyboard();
      if (input === undefined) {
        const why = `${task} asks a question, and there is no terminal to answer it: ${text.slice(0, MAX_LINE_CHARS)}`;
        if (usual === undefined) unanswered.abort(new Error(why));
        return undefined;
      }
      const words = usual === undefined ? text : `${text} (${usual})`;
      err.write(`${onPage(err, harmless(words), "  ")}\n> `);
      const line = await Promise.race([input.line(), noMore(signal)]);
      return line?.trim() || undefined;
    },
    [Symbol.asyncDispose]: async () => {
      await opened?.close();
    },
  };
}

const noMore = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));

function ended(context: Context, { result, cause }: SubtaskEnd, isStopped: boolean): ExitCode {
  writeJson(context, result);
  if (isStopped) return EXIT.interrupted;
  if (result.status === "COMPLETE") return EXIT.done;
  return cause === undefined ? EXIT.notAllDone : exitOfFailure(cause.kind, EXIT.notAllDone);
}

const subtaskList: Act<ListOptions> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const { found } = await templatesOf(project.located.top, options.allowCode === true, AGREES_TO_ALL); // Only shown.
  if (context.json) writeJson(context, { templates: found.map(entryOf) });
  for (const line of found.flatMap(linesOf)) say(context, line);
  if (found.length === 0) say(context, `There are no templates in ${TEMPLATES_FOLDER}; see docs/subtasks.md`);
  return found.some(({ is }) => is === "wrong") ? EXIT.notAllDone : EXIT.done;
};

function entryOf(found: FoundTemplate): object {
  const { file } = found;
  if (found.is === "wrong") return { file, problem: found.why };
  if (found.is === "code") return { file, problem: NOT_IMPORTED };
  const { name, type, subtype, description, inputs = {} } = found.template;
  return { file, name, type, ...(subtype !== undefined && { subtype }), description, inputs };
}

const NOT_IMPORTED = "a module: not imported, because that would run it (--allow-code)";

function linesOf(found: FoundTemplate): readonly string[] {
  const file = harmless(found.file);
  if (found.is === "wrong") return [`${file}: cannot be used: ${harmless(found.why, MAX_WHY_CHARS)}`];
  if (found.is === "code") return [`${file}: ${NOT_IMPORTED}`];
  const { name, type, description } = found.template;
  return [
    `${harmless(name)} (${harmless(type)}): ${harmless(description, MAX_SHOWN_CHARS)}`,
    `  ${[file, ...inputsOf(found.template)].join("; ")}`,
  ];
}

const MAX_SHOWN_CHARS = 200;
const MAX_WHY_CHARS = 500;

const inputsOf = ({ inputs = {} }: Template): readonly string[] => {
  const names = Object.entries(inputs).map(([name, { required }]) =>
    harmless(required ? name : `[${name}]`, MAX_SHOWN_CHARS),
  );
  return names.length === 0 ? [] : [`inputs: ${names.join(", ")}`];
};
