/** Which verbs are there? In the order in which people meet them, and in which the help lists them. */
import { addDeliver } from "./deliver.ts";
import { addDemo } from "./demo.ts";
import { addDoctor } from "./doctor.ts";
import { addInit } from "./init.ts";
import { addLogs } from "./logs.ts";
import type { AddVerb } from "./options.ts";
import { addPlan } from "./plan.ts";
import { addResume } from "./resume.ts";
import { addRun } from "./run.ts";
import { addSalvage } from "./salvage.ts";
import { addShow } from "./show.ts";
import { addSimulate } from "./simulate.ts";
import { addStatus } from "./status.ts";
import { addApprove, addCancel, addPause, addSteer } from "./steering.ts";
import { addStop } from "./stop.ts";

export const VERBS: readonly AddVerb[] = [
  addInit,
  addDoctor,
  addPlan,
  addSimulate,
  addRun,
  addStatus,
  addShow,
  addLogs,
  addStop,
  addPause,
  addResume,
  addSteer,
  addApprove,
  addCancel,
  addDeliver,
  addSalvage,
  addDemo,
];
