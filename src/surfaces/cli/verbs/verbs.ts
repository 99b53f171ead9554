/** Which verbs are there? In the order in which people meet them, and in which the help lists them. */
import type { Command } from "commander";
import type { Perform } from "../context.ts";
import { addDeliver } from "./deliver.ts";
import { addDemo } from "./demo.ts";
import { addLogs } from "./logs.ts";
import { addResume } from "./resume.ts";
import { addRun } from "./run.ts";
import { addSalvage } from "./salvage.ts";
import { addShow } from "./show.ts";
import { addStatus } from "./status.ts";
import { addStop } from "./stop.ts";

/** Adds itself to the program. What it does is imported when it is done: `skein --help` must not load an engine. */
export type AddVerb = (program: Command, perform: Perform) => void;

export const VERBS: readonly AddVerb[] = [
  addRun,
  addStatus,
  addShow,
  addLogs,
  addStop,
  addResume,
  addDeliver,
  addSalvage,
  addDemo,
];
