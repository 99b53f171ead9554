/** Which verbs are there? In the order in which people meet them, and in which the help lists them. */
import type { AddVerb } from "./options.ts";

/** By name, each loaded when it is wanted: all of them are some 20 files, of which a command needs one. */
const VERBS: Readonly<Record<string, () => Promise<AddVerb>>> = {
  init: async () => (await import("./init.ts")).addInit,
  doctor: async () => (await import("./doctor.ts")).addDoctor,
  plan: async () => (await import("./plan.ts")).addPlan,
  subtask: async () => (await import("./subtask.ts")).addSubtask,
  ask: async () => (await import("./ask.ts")).addAsk,
  simulate: async () => (await import("./simulate.ts")).addSimulate,
  run: async () => (await import("./run.ts")).addRun,
  status: async () => (await import("./status.ts")).addStatus,
  show: async () => (await import("./show.ts")).addShow,
  logs: async () => (await import("./logs.ts")).addLogs,
  report: async () => (await import("./report.ts")).addReport,
  stop: async () => (await import("./stop.ts")).addStop,
  pause: async () => (await import("./steering.ts")).addPause,
  resume: async () => (await import("./resume.ts")).addResume,
  steer: async () => (await import("./steering.ts")).addSteer,
  answer: async () => (await import("./steering.ts")).addAnswer,
  approve: async () => (await import("./steering.ts")).addApprove,
  cancel: async () => (await import("./steering.ts")).addCancel,
  deliver: async () => (await import("./deliver.ts")).addDeliver,
  salvage: async () => (await import("./salvage.ts")).addSalvage,
  remove: async () => (await import("./remove.ts")).addRemove,
  demo: async () => (await import("./demo.ts")).addDemo,
};

/** The one that is called; all of them for who asks for help, or calls one that is not there. A version needs none. */
export async function verbsFor(args: readonly string[]): Promise<readonly AddVerb[]> {
  if (args[0] === "--version" || args[0] === "-V") return [];
  const called = args.find((arg) => !arg.startsWith("-")) ?? "";
  const wanted = Object.hasOwn(VERBS, called) ? [VERBS[called]!] : Object.values(VERBS);
  return Promise.all(wanted.map((load) => load()));
}
