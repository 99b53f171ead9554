/** `skein subtask run`: from a template and its inputs to a result, by the configured agent. */
import { runTask, type TaskEnd } from "../../../compose/subtask-run.ts";
import {
  type RepositoryTemplates,
  TEMPLATES_FOLDER,
  templatesOf,
} from "../../../compose/subtask-templates.ts";
import { closest } from "../../../core/closest.ts";
import type { Failure } from "../../../core/failure.ts";
import { hasFailed } from "../../../ports/repository.ts";
import type { Question, SubtaskEvent } from "../../../subtasks/live-task.ts";
import type { Template } from "../../../subtasks/template.ts";
import { type Act, type Context, refuse, usage, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { SubtaskRunOptions } from "../verbs/options.ts";
import { harmless, onPage } from "../words.ts";
import { settleAgents } from "./agents.ts";
import { configure } from "./configuration.ts";
import type { Input, OpenInput } from "./plan-input.ts";
import { type Exit, hasExit, openHere } from "./project.ts";
import { stopOnSignal } from "./signals.ts";
import { readInputs } from "./subtask-inputs.ts";

type Wanted = SubtaskRunOptions & { readonly template: string; readonly input?: readonly string[] };

const processInput: OpenInput = async () => (await import("./plan-input.ts")).processInput();

export const subtaskRun: Act<Wanted & { readonly keyboard?: OpenInput }> = async (context, wanted) => {
  const project = await openHere(context, wanted);
  if (hasExit(project)) return project.exit;
  const allowCode = wanted.allowCode === true;
  const templates = await templatesOf(project.located.top, allowCode);
  const template = named(context, templates, wanted.template);
  if (hasExit(template)) return template.exit;
  const read = await readInputs(wanted.input ?? [], template, context.folder);
  if ("problem" in read) return usage(context, read.problem);
  const configured = await configure(context, project, wanted);
  if (hasExit(configured)) return configured.exit;
  const settled = await settleAgents(context, project, configured.config);
  if (hasExit(settled)) return settled.exit;
  const { config } = settled;
  const tell = teller(context);
  for (const notice of [...configured.notices, ...settled.notices]) tell(notice);
  using stopping = stopOnSignal();
  const unanswered = new AbortController();
  await using person = personAt(context, unanswered, wanted.keyboard ?? processInput);
  const end = await runTask(
    project,
    {
      ...{ config, env: context.env, spec: config.agent!, template, inputs: read.inputs, allowCode },
      registry: templates.registry,
      ask: person.ask,
      onEvent: (event) => tell(eventText(event)),
    },
    tell,
    AbortSignal.any([stopping.signal, unanswered.signal]),
  );
  if (hasFailed(end)) {
    const { failure } = end;
    return refuse(
      context,
      stopping.signal.aborted ? EXIT.interrupted : codeOf(failure, EXIT.configuration),
      failure,
    );
  }
  return ended(context, end, stopping.signal.aborted);
};

/** By its name, else by what is wrong with its file; else those that are near. */
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
        `${file.file} is a module: to import it runs it`,
        "read it, then add --allow-code",
      ),
    };
  const names = found.flatMap((one) => (one.is === "template" ? one.template.name : []));
  const near = closest(name, names);
  const known = near.length > 0 ? `did you mean ${near.join(", ")}?` : "skein subtask list shows all";
  return { exit: usage(context, `there is no template ${name.slice(0, 80)} in ${TEMPLATES_FOLDER}`, known) };
}

/** Lines for people; who reads JSON is told by the result alone. */
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
  readonly ask: (question: Question, signal: AbortSignal) => Promise<string | undefined>;
};

/** On a terminal. Elsewhere the default counts, and where there is none, everything is stopped. */
function personAt({ err, json }: Context, unanswered: AbortController, open: OpenInput): Person {
  let opened: Input | undefined;
  const keyboard = async () => {
    if (json || err.size === undefined) return undefined;
    opened ??= await open();
    return opened.isTerminal ? opened : undefined;
  };
  return {
    ask: async ({ text, default: usual, task }, signal) => {
      const input = await keyboard();
      if (input === undefined) {
        const why = `${task} asks, and nobody can answer here: ${text.slice(0, MAX_LINE_CHARS)}`;
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

function ended(context: Context, { result, cause }: TaskEnd, isStopped: boolean): ExitCode {
  writeJson(context, result);
  if (isStopped) return EXIT.interrupted;
  if (result.status === "COMPLETE") return EXIT.done;
  return cause === undefined ? EXIT.notAllDone : codeOf(cause, EXIT.notAllDone);
}

function codeOf({ kind }: Failure, otherwise: ExitCode): ExitCode {
  if (kind === "authentication") return EXIT.authentication;
  if (kind === "agent-unreachable") return EXIT.agentUnavailable;
  return kind === "quota" ? EXIT.parked : otherwise;
}
