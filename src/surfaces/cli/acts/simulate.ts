/** `skein simulate`: how would a plan go? */
import path from "node:path";
import { openProject, type Project } from "../../../compose/project.ts";
import { learntHere } from "../../../compose/recorded.ts";
import { toPolicy } from "../../../config/index.ts";
import type { Policy } from "../../../core/policy.ts";
import type { ExecutionPlan } from "../../../planning/plan.ts";
import { hasFailed } from "../../../ports/repository.ts";
import { type Assumed, assume, type Learnt, NOTHING_LEARNT } from "../../../simulation/assumed.ts";
import { workMs } from "../../../simulation/forecast.ts";
import { type SpeedUp, speedUp } from "../../../simulation/speed-up.ts";
import { type Act, type Context, refuse, say, usage, writeJson } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { forecastSvg } from "../forecast-svg.ts";
import { forecastText } from "../forecast-text.ts";
import { paint } from "../output.ts";
import { firstLine, harmless, plural } from "../words.ts";
import { readHere } from "./configuration.ts";
import { type Exit, hasExit, NEVER } from "./project.ts";
import { readNumbers, type SimulateOptions } from "./simulate-options.ts";
import { draw, saySections } from "./simulate-output.ts";
import { type PlanToSimulate, planToSimulate } from "./simulate-plan.ts";
import { simulateRun } from "./simulate-run.ts";

export const simulate: Act<SimulateOptions> = async (context, options) => {
  const numbers = readNumbers(options);
  if ("wrong" in numbers) return usage(context, numbers.wrong, "skein simulate --help");
  if ((options.plan === undefined) === (options.run === undefined))
    return usage(context, "name a plan, or a run with --run", "skein simulate plan.json");
  if (options.run !== undefined) return simulateRun(context, { ...options, run: options.run });
  const here = await around(context, options);
  if (hasExit(here)) return here.exit;
  const given = await planToSimulate(context, options.plan!, options.repo ?? ".");
  if (hasExit(given)) return given.exit;
  const { plan } = given;
  const assumed = withNotes(assume(here.learnt, numbers), given, here);
  const found = await speedUp({ plan, assumed, policy: here.policy, ...numbers });
  if (hasFailed(found)) return refuse(context, EXIT.notAllDone, found.failure);
  const drawn = options.svg === undefined ? undefined : await draw(context, options.svg, svgOf(plan, found));
  if (drawn !== undefined) return drawn;
  if (context.json) writeJson(context, jsonOf(plan, found, assumed));
  else tell(context, plan, found, assumed);
  if (options.svg !== undefined) say(context, `\ndrawn in ${harmless(options.svg)}`);
  return EXIT.done;
};

type Here = { readonly policy: Policy; readonly learnt: Learnt; readonly isRepository: boolean };

/** A plan can be looked at anywhere; in a repository its configuration and its earlier runs count. */
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
    learnt: opened ? await learntHere(opened) : NOTHING_LEARNT,
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
        ? [`plan: it says of ${estimated} of its ${plural(tasks.length, "task")} how long they take`]
        : []),
      ...assumed.because,
      ...(long > 0
        ? [
            `time: a worker is given less (timeout.work, timeout.grace) than ${plural(long, "task")} would take; attempts are lost`,
          ]
        : []),
      ...(loose > 0
        ? [`files: not known of ${plural(loose, "task")}, so that no conflict of theirs is foreseen`]
        : []),
      ...(errors > 0
        ? [`plan: skein run would refuse it as it is, for ${plural(errors, "problem")}: skein plan check`]
        : []),
      ...(isRepository
        ? []
        : ["runs: there is no repository here, so that nothing was learnt from earlier runs"]),
    ],
  };
}

function tell(context: Context, plan: ExecutionPlan, found: SpeedUp, assumed: Assumed): void {
  const { out } = context;
  say(context, `${paint(out, "strong", firstLine(plan.goal))}: ${plural(plan.tasks.length, "task")}`);
  say(context, paint(out, "quiet", "A forecast by the real engine on a virtual clock; nothing was run."));
  saySections(context, forecastText(plan, found, assumed.because));
}

const svgOf = (plan: ExecutionPlan, { rows, useful, forecast, critical }: SpeedUp): string =>
  forecastSvg({
    title: `${firstLine(plan.goal)}: ${plural(useful, "worker")}`,
    timeline: forecast,
    workers: useful,
    critical: new Set(critical.tasks),
    curve: { rows, useful, floorMs: critical.ms },
  });

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
