/** The schema of skein.yaml. Types, validation, docs/configuration.md and the JSON Schema are derived from it. */
import * as z from "zod";
import { defaultPolicy as policy } from "../core/rules/policy.ts";
import { LABEL, MAX_LABELS } from "../core/task.ts";
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
  wholeOrAuto,
  yesOrNo,
} from "./values.ts";

const time = (ms: number) => duration(1).prefault(durationText(ms));
const group = <S extends z.core.$ZodLooseShape>(about: string, shape: S) =>
  z
    .strictObject(shape)
    .prefault({} as never)
    .describe(about);

/** Defaults have the form that a person would write; those of the policy are taken from it. */
export const schema = z.strictObject({
  workers: whole(1).prefault(policy.capacity.work).describe("Maximum number of workers at once."),
  planners: whole(1)
    .prefault(policy.capacity.plan)
    .describe("Maximum number of planners and subplanners at once."),
  agent: agent()
    .optional()
    .describe(
      "The agent that works and plans: a known agent's name, provider/model, acp:command, a command as words or as a list, or a script.",
    ),
  model: model()
    .optional()
    .describe("The model of the built-in agent, as provider/model; short for `agent`."),
  planner: planner()
    .optional()
    .describe('The agent that plans, if not `agent`; "none" gives the whole goal to one worker.'),
  lookFor: kinds("keys", "programs", "servers")
    .prefault(["keys", "programs", "servers"])
    .describe(
      "Where Skein looks for an agent if none is named, in this order: keys in the environment, known programs on the " +
        "PATH, model servers on this machine.",
    ),
  fallback: models()
    .prefault([])
    .describe("Models that the built-in agent calls, in this order, while its own is rate limited."),
  sandbox: choice("auto", "required", "off")
    .prefault("auto")
    .describe(
      "Whether commands of the built-in agent and of plans run in a sandbox: if there is one (auto), always (required: a " +
        "run that would leave agents or the gate unconfined is refused), or never (off).",
    ),
  network: yesOrNo()
    .prefault(true)
    .describe("Whether commands in the sandbox can reach the network, and servers on this machine."),
  permissions: choice("deny-outside", "allow")
    .prefault("deny-outside")
    .describe("Which permission requests of ACP agents are allowed: those inside the workspace, or all."),
  prompts: text()
    .min(1, "must not be empty")
    .optional()
    .describe("A folder whose files replace Skein's prompts of the same names."),
  base: text()
    .regex(/^(?!-)[^\p{Cc}]+$/u, "must be the name of a branch or a commit")
    .prefault("HEAD")
    .describe("The branch or commit that a run starts from."),
  approve: choice("never", "first", "every")
    .prefault(policy.approval)
    .describe(
      "Which plans of the goal's planner wait for `skein approve`: none, all until one is approved, or all.",
    ),
  branchPrefix: text().prefault(policy.branchPrefix).describe("The prefix of all branch names."),
  keepBranches: yesOrNo().prefault(false).describe("Whether branches of attempts outlive their run."),
  gate: gate()
    .prefault("auto")
    .describe('What a tree must pass to land: "auto" (detected), "none", or a list of commands for /bin/sh.'),
  gates: wholeOrAuto(1)
    .prefault(policy.landing.gates)
    .describe(
      "How many candidates are gated at once, each built on the one before it; auto: one for every two cores, at most 8. " +
        "More than 1 needs a gate that can run several times at once.",
    ),
  gateProbe: choice("auto", "off")
    .prefault("auto")
    .describe(
      "Whether Skein probes the gate once before anything lands: it must fail on the base without its sources.",
    ),
  gateChanges: choice("scope", "ask", "refuse")
    .prefault("scope")
    .describe(
      "A task that changes what the gate, CI or hooks run, or what steers agents: outside its scope it is refused; inside its scope " +
        "it is flagged (scope), waits for `skein approve` (ask), or is refused (refuse).",
    ),
  evidence: group("What becomes of a task's change that breaks a rule about tests or marks.", {
    tests: choice("refuse", "flag")
      .prefault(policy.evidence.tests)
      .describe("It deletes tests, empties them or switches them off: retried (refuse), or told (flag)."),
    marks: choice("refuse", "flag")
      .prefault(policy.evidence.marks)
      .describe("It leaves marks that the repository does not use itself, such as `any` or TODO: the same."),
  }),
  gateSandbox: choice("auto", "off")
    .prefault("auto")
    .describe(
      "Whether gate and set-up commands run in the sandbox: if there is one and `sandbox` is not off (auto), or never.",
    ),
  gateWorkspace: choice("reuse", "fresh")
    .prefault("reuse")
    .describe(
      "Whether the gate's workspace keeps ignored files, such as build caches, from one run to the next (reuse), or is " +
        "made anew for each run, set-up included (fresh).",
    ),
  gateTimeout: time(15 * 60_000).describe("How long one command of the gate may take."),
  gateOutput: size(1).prefault("8MB").describe("How much of the output of one command of the gate is kept."),
  workspace: group("The folders that agents work in.", {
    setup: text().min(1, "must not be empty").optional().describe("A command that prepares a new workspace."),
    setupTimeout: time(10 * 60_000).describe("How long the set-up command may take."),
    copy: list()
      .prefault(["node_modules"])
      .describe("Names of ignored folders that are copied into each workspace."),
    share: list().prefault([]).describe("Ignored folders that all workspaces share with your checkout."),
    pass: list()
      .refine((names) => names.every((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)), {
        error: "must be names of environment variables, without their values",
      })
      .prefault([])
      .describe("Names of environment variables that are passed on to agents, besides the usual ones."),
    filters: list()
      .prefault([])
      .describe(
        "Names of filters in your git settings that may run on what agents write, outside the sandbox; git-lfs is " +
          "always allowed.",
      ),
    maxFile: size(1).prefault("512MB").describe("The largest file that an agent may write."),
    sparse: yesOrNo()
      .prefault(false)
      .describe(
        "Whether a worker's folder has only the files of its task, those at the top of the repository, and manifests.",
      ),
  }),
  landing: group("How changes land on the target branch.", {
    strategy: choice("merge-commit", "rebase", "fast-forward")
      .prefault(policy.landing.strategy)
      .describe("How a candidate is made from the target and a task's branch."),
    maxBatch: whole(1)
      .prefault(policy.landing.maxBatch)
      .describe(
        "Maximum number of tasks in one gated candidate (merge-commit only); fewer if many candidates fail.",
      ),
  }),
  sweep: group("How often the target branch is checked while nothing lands.", {
    red: time(policy.sweep.redMs).describe("While its gate fails, and until it has passed for a while."),
    green: time(policy.sweep.greenMs).describe("Once its gate has passed three times in a row."),
  }),
  reconciler: choice("rules", "model")
    .prefault("rules")
    .describe(
      "No longer has an effect: rules group failures of the target branch into fix tasks. model is read with a warning.",
    ),
  onRedBase: choice("ask", "repair", "continue", "stop")
    .optional()
    .describe(
      "What happens if the gate fails on the base before an agent is started: a question to you (ask), fix tasks first " +
        "(repair), no fix tasks, and only what makes nothing worse lands (continue), or nothing is started and the exit " +
        "code is 3 (stop). Without it: ask on a terminal; elsewhere repair, and stop where nothing ran that could be judged.",
    ),
  repair: group("Fix tasks for a target branch whose gate fails.", {
    maxTasks: whole(1)
      .prefault(policy.repair.maxTasks)
      .describe("Maximum number of fix tasks from one check of the target branch."),
    maxFiles: whole(1).prefault(policy.repair.maxFiles).describe("Maximum number of files in one fix task."),
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
      .describe("Extra time for a planner or worker before it is ended and retried."),
  }),
  retry: group("What is retried, and how often.", {
    maxFailed: whole(1)
      .prefault(policy.retry.maxFailed)
      .describe("Failed attempts before the task has failed."),
    maxCriterion: whole(1)
      .prefault(policy.retry.maxCriterion)
      .describe("The same for a planned task with a success criterion."),
    maxRefused: whole(0)
      .prefault(policy.retry.maxRefused)
      .describe("New attempts after a conflict or a failed gate."),
    maxLost: whole(0)
      .prefault(policy.retry.maxLost)
      .describe("How many jobs in a row may be lost without an answer."),
    maxUnreachable: whole(1)
      .prefault(policy.retry.maxUnreachable)
      .describe("How many jobs in a row may fail because the agent's model cannot be reached."),
    first: duration(0)
      .prefault(durationText(policy.retry.firstMs))
      .describe("The first delay before a retry."),
    max: duration(0).prefault(durationText(policy.retry.maxMs)).describe("The longest delay before a retry."),
  }),
  subtasks: group("What a worker may delegate in the middle of its task.", {
    maxDepth: whole(1)
      .prefault(policy.subtasks.maxDepth)
      .describe("Maximum levels of tasks, the worker's own included; 1: a worker cannot delegate."),
    maxTasks: whole(0)
      .prefault(policy.subtasks.maxTasks)
      .describe("Maximum number of subtasks of one worker's task, over all levels."),
  }),
  questions: group("What workers may ask.", {
    wait: duration(0)
      .prefault(durationText(policy.questions.waitMs))
      .describe("How long a question waits for an answer before its default is used."),
  }),
  budget: group("What a run may spend; without a number there is no limit.", {
    tokens: whole(0).optional().describe("Tokens of all agents together."),
    dollars: money().optional().describe("US dollars of all agents together."),
    task: group("What one task may spend.", {
      tokens: whole(0).optional().describe("Tokens of one task, all its attempts and turns together."),
      dollars: money().optional().describe("US dollars of one task, all its attempts and turns together."),
    }),
    subtree: group("What a task of the goal's planner may spend with everything below it.", {
      tokens: whole(0)
        .optional()
        .describe("Tokens of a task of the goal's planner with everything below it."),
      dollars: money().optional().describe("US dollars of the same."),
    }),
    landingShare: share()
      .prefault(policy.budget.landingShare)
      .describe(
        "The share of the run's budget that is reserved for landing finished work, from 0 to less than 1.",
      ),
    reserve: group("What is reserved for a job while it runs, until its real cost is known.", {
      tokens: whole(0)
        .prefault(policy.budget.reserveTokens)
        .describe("Tokens that are reserved for a job while it runs, until its real cost is known."),
      dollars: money()
        .prefault(policy.budget.reserveMicrodollars / 1e6)
        .describe("US dollars that are reserved in the same way."),
    }),
  }),
  prices: prices()
    .prefault({})
    .describe("US dollars per million tokens, by provider/model: { input, output, cacheRead, cacheWrite }."),
  quota: group("What happens while an account is rate limited.", {
    wait: duration(0)
      .prefault("12h")
      .describe("The longest wait for a reset; if the reset is later, the run stops, and can be resumed."),
    first: time(policy.quota.firstMs).describe(
      "How long a rate limited account is not called if it gives no reset time; doubled each time in a row.",
    ),
    max: time(policy.quota.maxMs).describe("The longest of these times."),
  }),
  quiet: group("How long an agent may show no activity; 0 means no limit.", {
    warn: duration(0).prefault("10m").describe("Time before a warning."),
    stop: duration(0)
      .prefault("30m")
      .describe("Time before the agent is ended, its work kept, and the task retried."),
  }),
  overlap: choice("serialise", "allow")
    .prefault(policy.overlap)
    .describe(
      "Whether tasks that change the same files run one after the other, or in parallel until they conflict at landing.",
    ),
  order: choice("priority", "longest-path")
    .prefault(policy.order)
    .describe(
      "Which ready task starts first: by priority, or among equal priorities the one that most others wait for.",
    ),
  sharedFiles: list()
    .prefault([...policy.sharedFiles])
    .describe("Files that any task may change, because tools rewrite them."),
  subplanner: group("When a task is split further.", {
    maxDepth: whole(0).prefault(policy.decompose.maxDepth).describe("Maximum levels of subplanners."),
    scopeThreshold: whole(1)
      .prefault(policy.decompose.scopeThreshold)
      .describe("Number of files in scope (a folder counts as four) from which a task is split."),
    moduleThreshold: whole(1)
      .optional()
      .describe("Also split a task whose scope is in at least this many folders."),
    scoreThreshold: whole(0)
      .optional()
      .describe("Also split a task whose description scores at least this, from 0 to 35 as a plan's score."),
    maxSubtasks: whole(1)
      .prefault(policy.subplanner.maxTasksPerAnswer)
      .describe("Maximum number of tasks in one answer of a subplanner."),
  }),
  replanAfter: whole(1)
    .prefault(policy.root.replanAfter)
    .describe("Number of newly settled tasks after which the planner is asked again."),
  log: group("What is kept of a run.", {
    maxTranscript: size(1).prefault("16MB").describe("Maximum size of the transcript of one turn."),
  }),
  fleet: group("Runs that several machines work on: docs/fleet.md.", {
    enabled: yesOrNo()
      .prefault(false)
      .describe(
        "Keep runs in the Postgres that SKEIN_FLEET_URL leads to, and let workers on other machines do their jobs.",
      ),
    schema: text()
      .regex(/^[a-z][a-z0-9_]{0,30}$/, "must be up to 31 small letters, digits and _, a letter first")
      .prefault("skein")
      .describe("The schema in Postgres that holds the fleet."),
    remote: text()
      .regex(/^(?!-)[^\p{Cc}]+$/u, "must be the name or the address of a git remote")
      .prefault("origin")
      .describe("The git remote that all machines of the fleet reach."),
    push: yesOrNo()
      .prefault(true)
      .describe(
        "Whether workers push what they made to the remote; else they hand it back through Postgres.",
      ),
    maxBundle: size(1)
      .prefault("48MB")
      .describe("The most that a worker hands back through Postgres for one task."),
    needs: list()
      .refine((labels) => labels.length <= MAX_LABELS && labels.every((label) => LABEL.test(label)), {
        error: "must be labels of machines, such as gpu",
      })
      .prefault([])
      .describe("Labels that a machine must have to do any job of the run, as workers have them (--labels)."),
  }),
  deliver: yesOrNo().prefault(false).describe("Deliver a run that is done into the base branch."),
});

type Frozen<T> = T extends readonly unknown[] | object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

type Read = Omit<Frozen<z.output<typeof schema>>, "model">;

/**
 * Durations are in ms, sizes in bytes. `model` has become `agent`. A run that began before the key existed has no
 * `gateChanges`.
 */
export type Config = Omit<Read, "gateChanges"> & { readonly gateChanges: Read["gateChanges"] | undefined };

/** The JSON Schema of skein.yaml, for editors and other tools. */
export const jsonSchema = (): Readonly<Record<string, unknown>> => ({
  ...z.toJSONSchema(schema, { io: "input" }),
  title: "skein.yaml",
});
