/** Builds the parts of the use cases for one repository on this machine. */
import { gateRules } from "../adapters/gates/rules.ts";
import { deliveryIn } from "../adapters/repositories/deliver.ts";
import { baseOf } from "../adapters/repositories/locate.ts";
import { ownRefsIn } from "../adapters/repositories/own-refs.ts";
import { newRunName } from "../adapters/runs/run-record.ts";
import { openTrialHome } from "../adapters/runs/trial-home.ts";
import type { Parts } from "../app/parts.ts";
import type { Environment, Project } from "../ports/project.ts";
import { looksOf } from "./planning.ts";
import { flakyTestsOf, gitIn, mailboxOf, salvageOf, tracesOf } from "./project.ts";
import { openWorld } from "./world.ts";

export function partsOf(project: Project, env: Environment): Parts {
  const { located } = project;
  const folder = located.top;
  return {
    ...{ project, env, mailboxOf },
    openWorld: (home, how) => openWorld(project, env, home, how),
    git: gitIn(project),
    base: (name, signal) => baseOf(located, name, signal),
    gate: ({ gate }, commit, signal) => gateRules(gate, folder).of(commit, signal),
    flaky: flakyTestsOf(project),
    agents: looksOf(env),
    delivery: deliveryIn(folder),
    traces: tracesOf(env),
    refs: ownRefsIn(folder),
    salvage: salvageOf(project),
    newRunName: () => newRunName(new Date(), Math.random),
    openTrialHome: (record) => openTrialHome(project.stateFolder, record),
  };
}
