/** The list of all commands, in the order in which people meet them and in which the help shows them. */
import type { Command } from "commander";
import type { AddTo } from "./commands/options.ts";
import type { Perform } from "./context.ts";

/** A command's file is loaded only when it is called: the help needs only this list. */
type Entry = { readonly usage: string; readonly summary: string; readonly load: () => Promise<AddTo> };

const COMMANDS: readonly Entry[] = [
  {
    usage: "init",
    summary: "write a first skein.yaml for this repository",
    load: async () => (await import("./commands/init.ts")).addInit,
  },
  {
    usage: "doctor",
    summary: "check whether a run could start here, and with what",
    load: async () => (await import("./commands/doctor.ts")).addDoctor,
  },
  {
    usage: "trust [plan]",
    summary: "see what this repository's files ask for, and agree to it once",
    load: async () => (await import("./commands/trust.ts")).addTrust,
  },
  {
    usage: "plan <request>",
    summary: "turn a request into a plan: tasks, agents, waves, risks",
    load: async () => (await import("./commands/plan.ts")).addPlan,
  },
  {
    usage: "subtask",
    summary: "run a template of .skein/templates; in a worker's program: delegate a subtask",
    load: async () => (await import("./commands/subtask.ts")).addSubtask,
  },
  {
    usage: "ask <question>",
    summary: "in a worker's program: ask a question, and continue with the answer",
    load: async () => (await import("./commands/ask.ts")).addAsk,
  },
  {
    usage: "simulate [plan]",
    summary: "forecast how long a plan takes, with how many workers, at what cost",
    load: async () => (await import("./commands/simulate.ts")).addSimulate,
  },
  {
    usage: "run <goal>",
    summary: "work on a goal, or a plan, in this repository",
    load: async () => (await import("./commands/run.ts")).addRun,
  },
  {
    usage: "status [run]",
    summary: "list the runs, or show the state of one",
    load: async () => (await import("./commands/status.ts")).addStatus,
  },
  {
    usage: "show [run] [task]",
    summary: "show the tasks of a run as a tree, or one task in full",
    load: async () => (await import("./commands/show.ts")).addShow,
  },
  {
    usage: "logs [run]",
    summary: "show what happened in a run, line by line",
    load: async () => (await import("./commands/logs.ts")).addLogs,
  },
  {
    usage: "watch [run]",
    summary: "watch and steer a run on the whole terminal",
    load: async () => (await import("./commands/watch.ts")).addWatch,
  },
  {
    usage: "serve",
    summary: "watch and steer runs in a browser",
    load: async () => (await import("./commands/serve.ts")).addServe,
  },
  {
    usage: "report [run]",
    summary: "print the report of a run: what landed, what failed and why, cost, time",
    load: async () => (await import("./commands/report.ts")).addReport,
  },
  {
    usage: "diff <run> <other>",
    summary: "compare two runs: time, cost, gate, and how their tasks ended",
    load: async () => (await import("./commands/diff.ts")).addDiff,
  },
  {
    usage: "trace [run]",
    summary: "send the OpenTelemetry spans of a run to a collector or a file",
    load: async () => (await import("./commands/trace.ts")).addTrace,
  },
  {
    usage: "stop [run]",
    summary: "stop a running run, and wait until it has stopped",
    load: async () => (await import("./commands/stop.ts")).addStop,
  },
  {
    usage: "pause [run]",
    summary: "start no new work in a run, until it is resumed",
    load: async () => (await import("./commands/steering.ts")).addPause,
  },
  {
    usage: "resume [run]",
    summary: "continue a run that was stopped, paused or killed",
    load: async () => (await import("./commands/resume.ts")).addResume,
  },
  {
    usage: "steer <run-or-message> [message]",
    summary: "tell the planner something during a run",
    load: async () => (await import("./commands/steering.ts")).addSteer,
  },
  {
    usage: "answer <run> <question> <text>",
    summary: "answer a worker's question",
    load: async () => (await import("./commands/steering.ts")).addAnswer,
  },
  {
    usage: "approve [run] [task]",
    summary: "approve a proposed plan, or the landing of a task that needs approval",
    load: async () => (await import("./commands/steering.ts")).addApprove,
  },
  {
    usage: "cancel <run> [task]",
    summary: "cancel a task with everything below it, or the whole run",
    load: async () => (await import("./commands/steering.ts")).addCancel,
  },
  {
    usage: "deliver [run]",
    summary: "merge what landed into the branch that the run started from",
    load: async () => (await import("./commands/deliver.ts")).addDeliver,
  },
  {
    usage: "salvage",
    summary: "list, restore or drop unfinished work of failed attempts",
    load: async () => (await import("./commands/salvage.ts")).addSalvage,
  },
  {
    usage: "remove [run]",
    summary: "remove a closed run, or all old ones: branches, refs, state",
    load: async () => (await import("./commands/remove.ts")).addRemove,
  },
  {
    usage: "fleet",
    summary: "make the database that several machines share, and list its workers",
    load: async () => (await import("./commands/fleet.ts")).addFleet,
  },
  {
    usage: "worker",
    summary: "do jobs of a fleet on this machine",
    load: async () => (await import("./commands/worker.ts")).addWorker,
  },
  {
    usage: "demo",
    summary: "watch a whole run, without an account, a network or a model",
    load: async () => (await import("./commands/demo.ts")).addDemo,
  },
];

/** Adds all commands, and options only to the one that is called or whose help is shown. */
export async function addCommands(
  program: Command,
  args: readonly string[],
  perform: Perform,
): Promise<void> {
  const [first, second] = args.filter((arg) => !arg.startsWith("-"));
  const called = first === "help" ? second : first;
  for (const { usage, summary, load } of COMMANDS) {
    const command = program.command(usage).summary(summary);
    if (command.name() === called) (await load())(command, perform);
  }
}
