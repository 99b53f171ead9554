/** `skein logs`: prints the events of a run so far, or until it closes. */
import { taskIn } from "../../../app/which-run.ts";
import { messageOf } from "../../../core/failure.ts";
import type { Event } from "../../../core/log/event.ts";
import { wallTime } from "../../../core/log/state.ts";
import type { TaskId } from "../../../core/task.ts";
import { concerns } from "../../../core/view/concerns.ts";
import { narrate } from "../../../core/view/narrate.ts";
import { nothingSeen, type Seen, see } from "../../../core/view/view.ts";
import { asJson, clockTime, day } from "../../../text/words.ts";
import { hasExit, openHere, openNamed } from "../acts/project.ts";
import { type Act, type Context, refuse } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { paint } from "../output.ts";
import { sayRefused } from "../refusals.ts";
import { hasPlanner } from "../run-record.ts";
import { type AddTo, addRepo, examples, type RepoOption } from "./options.ts";

export const addLogs: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Shows what happened in a run, with times. With --json: every event in full, one per line. " +
        "Without a run: the open one, else the newest.",
    )
    .option("-f, --follow", "keep printing until the run closes; Ctrl-C ends it")
    .option("--task <task>", "only events of this task and its subtasks")
    .addHelpText(
      "after",
      examples(
        "skein logs 1115-k7qd",
        "skein logs 1115-k7qd -f",
        "skein logs 1115-k7qd --task parser --json",
      ),
    )
    .action((run: string | undefined, options: LogsOptions) =>
      perform((context) => logs(context, { ...options, run })),
    );
};

type LogsOptions = RepoOption & { readonly follow?: true; readonly task?: string };

const logs: Act<LogsOptions & { readonly run: string | undefined }> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const found = await openNamed(context, project, options.run);
  if (hasExit(found)) return found.exit;
  const { home } = found;
  const task = options.task === undefined ? undefined : taskIn(found, options.task);
  if (typeof task === "object") return sayRefused(context, task);
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  if (options.follow) for (const name of SIGNALS) process.on(name, onSignal);
  try {
    const told = nothingSeen();
    const events = options.follow ? home.log.follow(0, stop.signal) : home.log.read(0);
    const teller = new Teller(context, task, hasPlanner(home.record));
    for await (const event of events) {
      see(told, event);
      teller.tell(event, told);
      if (event.type === "run.closed") break;
    }
    return EXIT.done;
  } catch (error) {
    return refuse(context, EXIT.configuration, { kind: "repository", message: messageOf(error) });
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal);
  }
};

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

class Teller {
  readonly #context: Context;
  readonly #task: TaskId | undefined;
  readonly #hasPlanner: boolean;
  #day = "";

  constructor(context: Context, task: TaskId | undefined, planned: boolean) {
    this.#context = context;
    this.#task = task;
    this.#hasPlanner = planned;
  }

  tell(event: Event, { state }: Seen): void {
    const { out, json } = this.#context;
    if (this.#task !== undefined && !concerns(event, this.#task)) return;
    if (json) {
      out.write(`${asJson(event)}\n`);
      return;
    }
    const line = narrate(event, state, { hasPlanner: this.#hasPlanner });
    if (!line) return;
    const time = wallTime(state, event.at);
    const today = day(time);
    if (today !== this.#day) out.write(`${paint(out, "quiet", today)}\n`);
    this.#day = today;
    out.write(`${paint(out, "quiet", clockTime(time))}  ${paint(out, line.tone, line.text)}\n`);
    for (const text of line.below ?? []) out.write(`${" ".repeat(10)}${paint(out, "quiet", text)}\n`);
  }
}
