/** `skein worker --join`: does jobs of a fleet on this machine until it is stopped. */
import { type JobNews, serveJobs } from "../../../app/serve-jobs.ts";
import { openWorker } from "../../../compose/fleet-worker.ts";
import { hasFailed } from "../../../core/result.ts";
import { LABEL, MAX_LABELS } from "../../../core/task.ts";
import { duration, plural } from "../../../text/words.ts";
import { drainOnSignal } from "../acts/signals.ts";
import { readHere, reconfigured } from "../configuration.ts";
import { type Act, type Context, refuse, say, usage, writeJson } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { versionText } from "../version.ts";
import { type AddTo, collect, examples, MACHINE, type SettingOptions } from "./options.ts";

type WorkerCommandOptions = Pick<SettingOptions, "agent" | "model" | "script" | "planner" | "set"> & {
  readonly join?: true;
  readonly capacity: string;
  readonly gates: string;
  readonly labels?: string;
  readonly name?: string;
  readonly once?: true;
  readonly bundle?: true;
};

export const addWorker: AddTo = (command, perform) => {
  command
    .description(
      "Joins the fleet whose Postgres SKEIN_FLEET_URL leads to, and does its jobs: planners, workers and gates. " +
        "SIGTERM: takes no more jobs, and ends after those that run. A second one stops these, keeping their work.",
    )
    .option("--join", "join the fleet")
    .option("--capacity <n>", "how many jobs at once", "1")
    .option(
      "--gates <n>",
      "how many gates besides, so that what is ready to land does not wait for agents",
      "1",
    )
    .option("--labels <a,b>", "what this machine has that tasks may need, such as gpu")
    .option(
      "--name <name>",
      "its name in the fleet (default: the one that it was invited under, or the host's)",
    )
    .option("--once", "do one job, then end: for machines that are made for one job")
    .option("--bundle", "never push: hand back what was made through the database")
    .option("--agent <agent>", "the agent of this machine, if not the run's")
    .option("--model <provider/model>", "the model of the built-in agent on this machine")
    .option("--planner <agent>", "the planner of this machine, if not the run's")
    .option("--script <file>", "answer from this script instead of an agent")
    .option("--set <key=value>", "set any key of skein.yaml for this machine; may be repeated", collect)
    .addHelpText("after", examples("skein worker --join", "skein worker --join --capacity 4 --labels gpu"))
    .action((options: WorkerCommandOptions) => perform((context) => worker(context, options)));
};

const worker: Act<WorkerCommandOptions> = async (context, options) => {
  const [capacity, gates] = [Number(options.capacity), Number(options.gates)];
  const labels = (options.labels ?? "").split(",").filter((label) => label !== "");
  if (!options.join) return usage(context, "a worker needs a fleet to join", "skein worker --join");
  if (!Number.isInteger(capacity) || capacity < 1 || capacity > MAX_CAPACITY)
    return usage(context, `--capacity ${options.capacity} is not a number from 1 to ${MAX_CAPACITY}`);
  if (!Number.isInteger(gates) || gates < 0 || gates > MAX_CAPACITY)
    return usage(context, `--gates ${options.gates} is not a number from 0 to ${MAX_CAPACITY}`);
  if (options.name !== undefined && !MACHINE.test(options.name))
    return usage(
      context,
      `--name ${JSON.stringify(options.name)} is no name of a machine`,
      "such as build-3",
    );
  const wrong = labels.find((label) => !LABEL.test(label));
  if (wrong !== undefined || labels.length > MAX_MACHINE_LABELS)
    return usage(context, `--labels ${options.labels} are not labels`, "such as gpu,linux-arm64");
  const read = await readHere(context, undefined, { set: options.set ?? [] });
  if ("message" in read) return refuse(context, EXIT.configuration, read);
  using signals = drainOnSignal((text) => say(context, text));
  const opened = await openWorker(
    {
      ...{ labels, capacity, schema: read.config.fleet.schema, version: versionText(false) },
      ...{ bundle: options.bundle ?? false, ...(options.name !== undefined && { name: options.name }) },
      configOf: (settings) => reconfigured(context, settings, options),
    },
    context.env,
    signals.stop,
  );
  if (hasFailed(opened)) return refuse(context, EXIT.configuration, opened.failure);
  await using here = opened;
  signals.drain.addEventListener("abort", () => here.source.drain(), { once: true });
  say(
    context,
    `Worker ${here.name} has joined the fleet: ${plural(capacity, "job")} at once. Its files are in ${here.folder}`,
  );
  const request = {
    capacity,
    gates,
    once: options.once ?? false,
    onJob: (news: JobNews) => tell(context, news),
  };
  await serveJobs(request, here, signals);
  say(context, `Worker ${here.name} has left the fleet.`);
  return EXIT.done;
};

const MAX_CAPACITY = 1_000;
/** A machine may have more labels than one task can need. */
const MAX_MACHINE_LABELS = 4 * MAX_LABELS;

function tell(context: Context, news: JobNews): void {
  if (context.json) writeJson(context, news);
  const { run, job, ms, how = "" } = news;
  const what = {
    taken: "taken",
    answered: `${how} after ${duration(ms)}`,
    late: `called off, or taken over by another machine, after ${duration(ms)}`,
    unsent: `could not be answered: ${how}`,
  }[news.is];
  say(context, `${run} ${job}: ${what}`);
}
