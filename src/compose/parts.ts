/** What do the use cases get of this machine, for one repository? */
import * as delivery from "../adapters/repositories/deliver.ts";
import { letGo } from "../adapters/repositories/held.ts";
import { newRunName } from "../adapters/runs/run-record.ts";
import type { Parts } from "../app/parts.ts";
import type { Environment } from "../config/sources.ts";
import type { Project } from "../ports/project.ts";
import { agentLooks } from "./agent-looks.ts";
import { baseOf, flakyTestsOf, gitIn, mailboxOf } from "./project.ts";
import { tracesOf } from "./traces.ts";
import { gateOf, openWorld } from "./world.ts";

export function partsOf(project: Project, env: Environment): Parts {
  const { top } = project.located;
  return {
    project,
    env,
    openWorld: (home, how) => openWorld(project, env, home, how),
    mailboxOf,
    git: gitIn(project),
    base: (name, signal) => baseOf(project, name, signal),
    gate: (config, commit, signal) => gateOf(project, config, commit, signal),
    flaky: flakyTestsOf(project),
    agents: agentLooks(env),
    delivery: {
      bring: (wanted, signal) => delivery.deliver({ ...wanted, folder: top }, signal),
      mergeBase: (wanted, signal) => delivery.mergeBase({ ...wanted, folder: top }, signal),
      letGo: (run) => letGo(top, run, { name: delivery.DELIVERY }),
    },
    traces: tracesOf(env),
    newRunName: () => newRunName(new Date(), Math.random),
  };
}
