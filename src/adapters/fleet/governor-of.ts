/** Chooses the governor of a run's model calls: one in this process, or Postgres for a whole fleet. */
import type { Report } from "../../core/log/event.ts";
import type { Clock } from "../../ports/clock.ts";
import type { RunGovernor } from "../../ports/governor.ts";
import type { RunHome } from "../../ports/runs.ts";
import { InProcessGovernor } from "../governor.ts";
import { endBlockingSessions } from "./blocking-sessions.ts";
import { FleetRun } from "./fleet-runs.ts";
import { followMachines } from "./machines.ts";
import { followAccounts } from "./reports.ts";
import { FleetRunGovernor, type TermsOf } from "./run-governor.ts";

type GovernorOf = {
  readonly governor: RunGovernor;
  readonly termsOf: TermsOf;
  /** Starts reporting what other machines find out about accounts, and which machines there are. */
  readonly reports?: (tell: (report: Report) => Promise<void>) => void;
  readonly close: () => Promise<void>;
};

export function governorOf(home: RunHome, clock: Clock): GovernorOf {
  if (!(home instanceof FleetRun))
    return { governor: new InProcessGovernor(clock), termsOf: async () => NO_TERMS, close: async () => {} };
  const { database, id: run } = home;
  const governor = new FleetRunGovernor({ database, run, clock });
  const over = new AbortController();
  let reading: Promise<unknown> | undefined;
  return {
    governor,
    termsOf: governor.termsOf,
    reports: (tell) => {
      const { signal } = over;
      reading = Promise.all([
        followAccounts(database, run, tell, signal),
        followMachines(database, tell, signal),
        endBlockingSessions(database, (held) => void tell({ type: "held", ...held }), signal),
      ]);
    },
    close: async () => {
      over.abort();
      governor[Symbol.dispose]();
      await Promise.all([reading, governor.settled()]);
    },
  };
}

const NO_TERMS = { countsIn: [], limitedBy: [] };
