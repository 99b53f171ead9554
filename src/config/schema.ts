/** What can be configured? The one schema of skein.yaml: types, checks, documents and JSON Schema come from it. */
import * as z from "zod";
import { defaultPolicy as policy } from "../core/rules/policy.ts";
import { agent, planner } from "./commands.ts";
import { gate } from "./gate.ts";
import { model, models, prices } from "./models.ts";
import {
  choice,
  duration,
  durationText,
  kinds,
  list,
  money,
  share,
  size,
  text,
  whole,
  yesOrNo,
} from "./values.ts";

const time = (ms: number) => duration(1).prefault(durationText(ms));
const group = <S extends z.core.$ZodLooseShape>(about: string, shape: S) =>
  z
    .strictObject(shape)
    .prefault({} as never)
    .describe(about);

/** Defaults are written as a person would write them; those of the policy are taken from it. */
export const schema = z.strictObject({
  workers: whole(1).prefault(policy.capacity.work).describe("Workers at once."),
  planners: whole(1).prefault(policy.capacity.plan).describe("Planners and subplanners at once."),
  agent: agent()
    .optional()
    .describe(
      "The agent that works and plans: a known agent's name, provider/model, acp:command, a command as words or as a list, or a script.",
    ),
  model: model()
    .optional()
    .describe(
      "Short for `agent` where the built-in agent is meant: the model that it calls, as provider/model.",
    ),
  planner: planner()
    .optional()
    .describe('How planners are run, if not as `agent`; "none" gives the goal to one worker as one task.'),
  lookFor: kinds("keys", "programs", "servers")
    .prefault(["keys", "programs", "servers"])
    .describe(
      "Where an agent is looked for if none is named, in this order: keys in the environment, known programs on the " +
        "PATH, model servers on this machine.",
    ),
  fallback: models()
    .prefault([])
    .describe("Models that the built-in agent calls, in this order, while the quota of its own is used up."),
  sandbox: choice("auto", "required", "off")
    .prefault("auto")
    .describe(
      "Whether commands of the built-in agent and of plans run in a sandbox: where there is one, always (a run that " +
        "would leave agents or gate unconfined is refused), or never.",
    ),
  network: yesOrNo()
    .prefault(true)
    .describe("Whether commands in the sandbox reach the network, and servers on this machine."),
  permissions: choice("deny-outside", "allow")
    .prefault("deny-outside")
    .describe("What agents that ask (ACP) may do: all inside their workspace, or all."),
  prompts: text()
    .min(1, "must not be empty")
    .optional()
    .describe("A folder whose files replace Skein's own prompts of the same names."),
  base: text()
    .regex(/^(?!-)[^\p{Cc}]+$/u, "must be the name of a branch or a commit")
    .prefault("HEAD")
    .describe("The branch or commit that a run starts from."),
  approve: choice("never", "first", "every")
    .prefault(policy.approval)
    .describe(
      "Which plans of the root's planner wait for `skein approve`: none, until one was approved, or each.",
    ),
  branchPrefix: text().prefault(policy.branchPrefix).describe("What the names of all branches begin with."),
  gate: gate()
    .prefault("auto")
    .describe('What a tree must pass to land: "auto" (detected), "none", or a list of commands for /bin/sh.'),
  gateProbe: choice("auto", "off")
    .prefault("auto")
    .describe(
      "Whether the gate is probed once before anything lands: on the base without its sources it must fail.",
    ),
  gateChanges: choice("scope", "ask", "refuse")
    .prefault("scope")
    .describe(
      "A task that changes what the gate runs, or what steers agents, outside of its scope is refused; inside it is only " +
        "told of, waits for `skein approve`, or is refused as well.",
    ),
  gateSandbox: choice("auto", "off")
    .prefault("auto")
    .describe(
      "Whether gate and set-up commands run in the sandbox: where there is one and `sandbox` is not off, or never.",
    ),
  gateTimeout: time(15 * 60_000).describe("How long one command of the gate may take."),
  gateOutput: size(1).prefault("8MB").describe("How much of what one command of the gate writes is kept."),
  workspace: group("The folders in which agents work.", {
    setup: text().min(1, "must not be empty").optional().describe("A command that prepares a new workspace."),
    setupTimeout: time(10 * 60_000).describe("How long the set-up command may take."),
    copy: list()
      .prefault(["node_modules"])
      .describe("Ignored folders, by name, that each workspace gets a copy of."),
    share: list().prefault([]).describe("Ignored folders that all workspaces share with your checkout."),
    pass: list()
      .refine((names) => names.every((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)), {
        error: "must hold names of environment variables, without their values",
      })
      .prefault([])
      .describe("Names of environment variables that agents get besides the usual ones."),
    filters: list()
      .prefault([])
      .describe(
        "Names of filters in your git settings that may run on what agents write, outside of the sandbox; git-lfs is " +
          "always allowed.",
      ),
    maxFile: size(1).prefault("512MB").describe("The largest file that is kept of what an agent made."),
  }),
  landing: group("How changes get onto the target.", {
    strategy: choice("merge-commit", "rebase", "fast-forward")
      .prefault(policy.landing.strategy)
      .describe("How a candidate is made from the target and a task's branch."),
    maxBatch: whole(1)
      .prefault(policy.landing.maxBatch)
      .describe("Tasks in one gated candidate at most (merge-commit only); fewer if many candidates fail."),
  }),
  sweep: group("How often the target branch is checked while nothing lands.", {
    red: time(policy.sweep.redMs).describe("While its gate fails, and until it has passed for a while."),
    green: time(policy.sweep.greenMs).describe("Once its gate has passed three times in a row."),
  }),
  reconciler: choice("rules", "model")
    .prefault("rules")
    .describe(
      "What groups failures of the target branch into fix tasks: rules, or the planner's model (built-in agent or ACP).",
    ),
  repair: group("Fix tasks for a target branch whose gate fails.", {
    maxTasks: whole(1)
      .prefault(policy.repair.maxTasks)
      .describe("Fix tasks that one check of the target branch may ask for."),
    maxFiles: whole(1).prefault(policy.repair.maxFiles).describe("Files that one fix task may touch."),
    maxRounds: whole(0)
      .prefault(policy.repair.maxRounds)
      .describe("Rounds of fix tasks in a row without fewer failures, before the repair is given up."),
  }),
  timeout: group("How long a job may take before it counts as lost; a late answer still counts.", {
    plan: time(policy.leaseMs.plan).describe("A planner's turn."),
    work: time(policy.leaseMs.work).describe("A worker's attempt at a task."),
    land: time(policy.leaseMs.land).describe("One merge and one run of the gate."),
    check: time(policy.leaseMs.check).describe("One run of the gate on the target."),
    grace: duration(0)
      .prefault(durationText(policy.retry.graceMs))
      .describe("How much longer a planner or worker is waited for before it is ended and replaced."),
  }),
  retry: group("What is retried, and how often.", {
    maxFailed: whole(1)
      .prefault(policy.retry.maxFailed)
      .describe("Failed attempts before the task has failed."),
    maxCriterion: whole(1)
      .prefault(policy.retry.maxCriterion)
      .describe("The same of a planned task with a success criterion."),
    maxRefused: whole(0)
      .prefault(policy.retry.maxRefused)
      .describe("New attempts after a conflict or a failed gate."),
    maxLost: whole(0)
      .prefault(policy.retry.maxLost)
      .describe("Jobs in a row that may be lost without an answer."),
    maxUnreachable: whole(1)
      .prefault(policy.retry.maxUnreachable)
      .describe("Jobs in a row whose agent could not be reached."),
    first: duration(0)
      .prefault(durationText(policy.retry.firstMs))
      .describe("The first wait before a retry."),
    max: duration(0).prefault(durationText(policy.retry.maxMs)).describe("The longest wait before a retry."),
  }),
  subtasks: group("What a worker may delegate in the middle of its task.", {
    maxDepth: whole(1)
      .prefault(policy.subtasks.maxDepth)
      .describe("Levels of tasks, the worker's own included; 1: a worker cannot delegate."),
    maxTasks: whole(0)
      .prefault(policy.subtasks.maxTasks)
      .describe("Subtasks of one worker's task, over all levels."),
  }),
  questions: group("What workers may ask.", {
    wait: duration(0)
      .prefault(durationText(policy.questions.waitMs))
      .describe("The longest that a question waits for an answer; then its default is taken."),
  }),
  budget: group("What a run may use; without a number there is no limit.", {
    tokens: whole(0).optional().describe("Tokens of all agents together."),
    dollars: money().optional().describe("US dollars of all agents together."),
    task: group("What one task may use.", {
      tokens: whole(0).optional().describe("Tokens of one task, all its attempts and turns together."),
      dollars: money().optional().describe("US dollars of one task, likewise."),
    }),
    subtree: group("What a task of the root's planner may use with everything below it.", {
      tokens: whole(0)
        .optional()
        .describe("Tokens of a task of the root's planner with everything below it."),
      dollars: money().optional().describe("US dollars of the same."),
    }),
    landingShare: share()
      .prefault(policy.budget.landingShare)
      .describe(
        "The part of the run's budget that is kept for finished work to land, from 0 to less than 1.",
      ),
    reserve: group("What is set aside for a job while it runs, until it says what it really cost.", {
      tokens: whole(0)
        .prefault(policy.budget.reserveTokens)
        .describe("Tokens that are set aside for a job while it runs, until it says what it really cost."),
      dollars: money()
        .prefault(policy.budget.reserveMicrodollars / 1e6)
        .describe("US dollars that are set aside in the same way."),
    }),
  }),
  prices: prices()
    .prefault({})
    .describe(
      "US dollars for a million tokens, by provider/model: { input, output, cacheRead, cacheWrite }.",
    ),
  quota: group("What happens while an account is rate limited.", {
    wait: duration(0)
      .prefault("12h")
      .describe("How far away a reset may be for a run to wait; beyond it the run stops, to be resumed."),
    first: time(policy.quota.firstMs).describe(
      "How long a rate limited account is left alone if it does not say until when; doubled each time in a row.",
    ),
    max: time(policy.quota.maxMs).describe("The longest of these times."),
  }),
  quiet: group("How long an agent may give no sign of life; 0 is for ever.", {
    warn: duration(0).prefault("10m").describe("Before it is said."),
    stop: duration(0).prefault("30m").describe("Before it is ended, its work kept, and the task retried."),
  }),
  overlap: choice("serialise", "allow")
    .prefault(policy.overlap)
    .describe(
      "Tasks that touch the same files run one after the other, or side by side until a conflict shows when they land.",
    ),
  order: choice("priority", "longest-path")
    .prefault(policy.order)
    .describe("Which ready task goes first: by priority, or among equals the one that most others wait for."),
  sharedFiles: list()
    .prefault([...policy.sharedFiles])
    .describe("Files that any task may touch, because tools rewrite them."),
  subplanner: group("When a task is split further.", {
    maxDepth: whole(0).prefault(policy.decompose.maxDepth).describe("Subplanners above one another."),
    scopeThreshold: whole(1)
      .prefault(policy.decompose.scopeThreshold)
      .describe("Files in scope (a folder counts as four) from which a task is split."),
    moduleThreshold: whole(1)
      .optional()
      .describe(
        "Also split a task whose scope is in at least this many folders; not for that reason if left out.",
      ),
    scoreThreshold: whole(0)
      .optional()
      .describe(
        "Also split a task whose description scores at least this, from 0 to 35 as a plan's score; not for that reason if " +
          "left out.",
      ),
    maxSubtasks: whole(1)
      .prefault(policy.subplanner.maxTasksPerAnswer)
      .describe("Tasks in one answer of a subplanner."),
  }),
  replanAfter: whole(1)
    .prefault(policy.root.replanAfter)
    .describe("Newly settled tasks after which the planner is asked again."),
  log: group("What is kept of a run.", {
    maxTranscript: size(1).prefault("16MB").describe("The largest transcript of one agent's turn."),
  }),
  deliver: yesOrNo().prefault(false).describe("Bring a run that is done into the base branch."),
});

type Frozen<T> = T extends readonly unknown[] | object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

type Read = Omit<Frozen<z.output<typeof schema>>, "model">;

/**
 * Durations are in ms, sizes in bytes. `model` is in `agent` by then. A run that was begun before there was
 * `gateChanges` has none.
 */
export type Config = Omit<Read, "gateChanges"> & { readonly gateChanges: Read["gateChanges"] | undefined };

/** For editors and other tools: what may stand in skein.yaml. */
export const jsonSchema = (): Readonly<Record<string, unknown>> => ({
  ...z.toJSONSchema(schema, { io: "input" }),
  title: "skein.yaml",
});
