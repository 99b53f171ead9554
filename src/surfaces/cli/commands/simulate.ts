/** `skein simulate`: forecasts a plan. */

import { isUtf8 } from "node:buffer";
import path from "node:path";
import { groundsOf } from "../../../app/plan-grounds.ts";
import { groundsParts } from "../../../compose/planning.ts";
import { openProject } from "../../../compose/project.ts";
import { toPolicy } from "../../../config/index.ts";
import { messageOf } from "../../../core/failure.ts";
import { hasFailed } from "../../../core/result.ts";
import type { Policy } from "../../../core/rules/policy.ts";
import { orderFindings } from "../../../planning/lint/order.ts";
import { lintPlan } from "../../../planning/lint.ts";
import type { ExecutionPlan } from "../../../planning/plan.ts";
import type { Project } from "../../../ports/project.ts";
import { type Assumed, assume, type Learnt, NOTHING_LEARNT } from "../../../simulation/assumed.ts";
import { workMs } from "../../../simulation/forecast.ts";
import { learntHere } from "../../../simulation/recorded.ts";
import { type SpeedUp, speedUp } from "../../../simulation/speed-up.ts";
import { firstLine, plural } from "../../../text/words.ts";
import { type Exit, hasExit, NEVER } from "../acts/project.ts";
import { readHere } from "../configuration.ts";
import { type Act, type Context, refuse, say, usage, writeJson } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { readBytes } from "../files.ts";
import { paint } from "../output.ts";
import { kindOf, MAX_PLAN_BYTES, optionsIn, readAs, refusePlan } from "../planning/file.ts";
import { forecastText, saySections } from "../render/forecast.ts";
import { type AddTo, addRepo, examples, type RepoOption } from "./options.ts";

export const addSimulate: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Runs the real engine on a virtual clock, without a model and without git: forecasts time, cost and conflicts " +
        "for 1, 2, 4 … workers, how many workers are useful, the critical path, and which files cause waiting. " +
        "Durations come from the plan, else from earlier runs of this repository, else from defaults; the output says " +
        "which.",
    )
    .option(
      "--max-workers <n>",
      "maximum number of workers to try (default: the number of tasks, at most 1,000)",
    )
    .option(
      "--fail-rate <share>",
      'share of attempts that fail, such as 0.2; "learnt": as in earlier runs (default: none)',
    )
    .option("--seed <n>", "seed of the random numbers (default: 1)")
    .addHelpText(
      "after",
      examples(
        "skein simulate plan.json",
        "skein simulate plan.md --max-workers 16",
        "skein simulate plan.json --fail-rate learnt",
      ),
    )
    .action((plan: string | undefined, options: Omit<SimulateOptions, "plan">) =>
      perform((context) => simulate(context, { ...options, ...(plan !== undefined && { plan }) })),
    );
};

const simulate: Act<SimulateOptions> = async (context, options) => {
  const numbers = readNumbers(options);
  if ("wrong" in numbers) return usage(context, numbers.wrong, "skein simulate --help");
  if (options.plan === undefined) return usage(context, "name a plan", "skein simulate plan.json");
  const here = await around(context, options);
  if (hasExit(here)) return here.exit;
  const given = await planToSimulate(context, options.plan, options.repo ?? ".");
  if (hasExit(given)) return given.exit;
  const { plan } = given;
  const assumed = withNotes(assume(here.learnt, numbers), given, here);
  const found = await speedUp({ plan, assumed, policy: here.policy, ...numbers });
  if (hasFailed(found)) return refuse(context, EXIT.notAllDone, found.failure);
  if (context.json) writeJson(context, jsonOf(plan, found, assumed));
  else tell(context, plan, found, assumed);
  return EXIT.done;
};

type Here = { readonly policy: Policy; readonly learnt: Learnt; readonly isRepository: boolean };

/** A plan can be simulated anywhere; in a repository, its configuration and its earlier runs are used. */
async function around(context: Context, { repo }: SimulateOptions): Promise<Here | Exit> {
  const folder = path.resolve(context.folder, repo ?? ".");
  const project = await openProject(folder, context.env, NEVER);
  if (hasFailed(project) && repo !== undefined)
    return { exit: refuse(context, EXIT.configuration, project.failure) };
  const opened: Project | undefined = hasFailed(project) ? undefined : project;
  const read = await readHere(context, opened?.located, {});
  if ("message" in read) return { exit: refuse(context, EXIT.configuration, read) };
  return {
    policy: toPolicy(read.config),
    learnt: opened ? await learntHere(opened.runs) : NOTHING_LEARNT,
    isRepository: opened !== undefined,
  };
}

function withNotes(
  assumed: Assumed,
  { plan, errors }: PlanToSimulate,
  { isRepository, policy }: Here,
): Assumed {
  const { tasks } = plan;
  const loose = tasks.filter(({ delivers, scope }) => delivers === "change" && scope.length === 0).length;
  const estimated = tasks.filter(({ estimate }) => estimate?.minutes !== undefined).length;
  const givenMs = policy.leaseMs.work + policy.retry.graceMs;
  const long = tasks.filter((task) => workMs(task, assumed) > givenMs).length;
  return {
    ...assumed,
    because: [
      ...(estimated > 0
        ? [`plan: it states durations for ${estimated} of its ${plural(tasks.length, "task")}`]
        : []),
      ...assumed.because,
      ...(long > 0
        ? [`time: ${plural(long, "task")} would exceed timeout.work and timeout.grace; their attempts fail`]
        : []),
      ...(loose > 0
        ? [`files: unknown for ${plural(loose, "task")}, so their conflicts are not simulated`]
        : []),
      ...(errors > 0
        ? [`plan: skein run would refuse it because of ${plural(errors, "problem")}: see skein plan check`]
        : []),
      ...(isRepository ? [] : ["runs: there is no repository here, so nothing was learnt from earlier runs"]),
    ],
  };
}

function tell(context: Context, plan: ExecutionPlan, found: SpeedUp, assumed: Assumed): void {
  const { out } = context;
  say(context, `${paint(out, "strong", firstLine(plan.goal))}: ${plural(plan.tasks.length, "task")}`);
  say(
    context,
    paint(out, "quiet", "A forecast by the real engine on a virtual clock; no agent was started."),
  );
  saySections(context, forecastText(plan, found, assumed.because));
}

function jsonOf(
  plan: ExecutionPlan,
  { rows, useful, stories, forecast, critical }: SpeedUp,
  assumed: Assumed,
) {
  const { tasks, bars, fileWaits, used, ...rest } = forecast;
  const nameOf = new Map(tasks.map(({ id, name }) => [id, name]));
  return {
    goal: plan.goal,
    assumed: { ...assumed, workMsByAgent: Object.fromEntries(assumed.workMsByAgent) },
    workers: rows.map(({ dollars, ...row }) => ({
      ...row,
      dollars: row.unpriced > 0 && dollars === 0 ? null : dollars,
    })),
    useful,
    stories,
    criticalPath: critical,
    forecast: {
      ...rest,
      tokens: used.tokens,
      tasks: tasks.slice(1).map(({ spec, id: _, ...task }) => ({ ...task, agent: spec.agent ?? null })),
      bars,
      fileWaits: fileWaits.map(({ task, behind, ms }) => ({
        task: nameOf.get(task),
        behind: nameOf.get(behind),
        ms,
      })),
    },
  };
}

type SimulateOptions = RepoOption & {
  readonly plan?: string;
  readonly maxWorkers?: string;
  readonly failRate?: string;
  readonly seed?: string;
};

type Numbers = {
  readonly maxWorkers: number;
  readonly seed: number;
  readonly failures?: number | "learnt";
};

/** More workers than anyone has, and as many as a forecast shows. */
const MAX_WORKERS = 1_000;
/** If nearly all attempts fail, the plan never ends. */
const MAX_FAIL_SHARE = 0.9;
const MAX_SEED = 2 ** 31;

function readNumbers({
  maxWorkers,
  failRate,
  seed,
}: Pick<SimulateOptions, "maxWorkers" | "failRate" | "seed">): Numbers | { readonly wrong: string } {
  const most = maxWorkers === undefined ? MAX_WORKERS : whole(maxWorkers, 1, MAX_WORKERS);
  if (most === undefined) return { wrong: `--max-workers must be a whole number from 1 to ${MAX_WORKERS}` };
  const first = seed === undefined ? 1 : whole(seed, 0, MAX_SEED);
  if (first === undefined) return { wrong: `--seed must be a whole number from 0 to ${MAX_SEED}` };
  const failures = failRate === undefined || failRate === "learnt" ? failRate : share(failRate);
  if (failures === undefined && failRate !== undefined)
    return { wrong: `--fail-rate must be "learnt", or a number from 0 to ${MAX_FAIL_SHARE}` };
  return { maxWorkers: most, seed: first, ...(failures !== undefined && { failures }) };
}

function whole(text: string, from: number, to: number): number | undefined {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return number >= from && number <= to ? number : undefined;
}

function share(text: string): number | undefined {
  const number = /^(?:\d(?:\.\d{0,6})?|\.\d{1,6})$/.test(text) ? Number(text) : Number.NaN;
  return number >= 0 && number <= MAX_FAIL_SHARE ? number : undefined;
}

/** `errors`: the number of errors for which a run would refuse the plan; a forecast is possible all the same. */
type PlanToSimulate = { readonly plan: ExecutionPlan; readonly errors: number };

async function planToSimulate(context: Context, file: string, repo: string): Promise<PlanToSimulate | Exit> {
  const text = await textIn(context, file);
  if (typeof text !== "string") return text;
  const grounds = await groundsOf(path.resolve(context.folder, repo), groundsParts, NEVER);
  const known = "agents" in grounds ? { agents: grounds.agents } : {};
  const read = await readAs(kindOf(file) ?? "json", text, optionsIn(context, known));
  if (read.is === "none") return noPlan(context, `${file} is not a plan`);
  if (read.is === "broken") return { exit: refusePlan(context, file, text, read.problems) };
  const { plan } = read;
  const endless = orderFindings(plan.tasks).filter(({ level }) => level === "error");
  if (endless.length > 0) return { exit: refusePlan(context, file, text, endless) };
  if (plan.tasks.length === 0) return noPlan(context, `the plan ${file} has no tasks`);
  return { plan, errors: lintPlan(plan, known).filter(({ level }) => level === "error").length };
}

async function textIn(context: Context, file: string): Promise<string | Exit> {
  try {
    const bytes = await readBytes(path.resolve(context.folder, file), MAX_PLAN_BYTES);
    if (bytes.length > MAX_PLAN_BYTES) return noPlan(context, `${file} is longer than 20 MB`);
    return isUtf8(bytes) ? bytes.toString("utf8") : noPlan(context, `${file} is not text`);
  } catch (error) {
    return noPlan(context, `${file} cannot be read: ${messageOf(error)}`);
  }
}

function noPlan(context: Context, message: string): Exit {
  const next = 'a plan is a .json or .md file: skein plan "…" --out plan.json makes one';
  return { exit: refuse(context, EXIT.configuration, { kind: "plan-invalid", message, next }) };
}
