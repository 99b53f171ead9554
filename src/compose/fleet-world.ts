/** Builds what a fleet's coordinator has instead of its own machine's parts: queue, gate, target and place. */
import path from "node:path";
import { admittedBy } from "../adapters/fleet/admitted.ts";
import { FleetPlace } from "../adapters/fleet/fleet-place.ts";
import type { FleetLink } from "../adapters/fleet/fleet-runs.ts";
import { keepPulling } from "../adapters/fleet/pulled-files.ts";
import { readRunFile, writeRunFile } from "../adapters/fleet/run-file-rows.ts";
import type { TermsOf } from "../adapters/fleet/run-governor.ts";
import { KIT_FILE, type RunKit, readKitFiles } from "../adapters/fleet/run-kit.ts";
import { withoutWorkers } from "../adapters/fleet/workers.ts";
import { FleetGate, GATES } from "../adapters/gates/fleet-gate.ts";
import { FleetOffers } from "../adapters/job-queues/fleet-offers.ts";
import type { InProcessJobQueue } from "../adapters/job-queues/in-process.ts";
import { PgBossJobQueue } from "../adapters/job-queues/pg-boss.ts";
import { JobObjects } from "../adapters/objects/job-objects.ts";
import { GitRemote } from "../adapters/objects/remote.ts";
import { RemoteTarget } from "../adapters/objects/remote-target.ts";
import type { GitPlace } from "../adapters/runs/git-place.ts";
import type { JobsChannel } from "../app/channel.ts";
import { templateAsks } from "../app/trust/template-asks.ts";
import type { Config } from "../config/schema.ts";
import { programsOf } from "../config/to-parts.ts";
import { hasFailed } from "../core/result.ts";
import type { JobParts } from "../jobs/job-parts.ts";
import { evidenceOf, salvageRefOf } from "../jobs/work.ts";
import type { Gate } from "../ports/gate.ts";
import type { Project } from "../ports/project.ts";
import type { RunHome } from "../ports/runs.ts";
import type { Signs } from "../ports/signs.ts";
import { trustOf } from "../ports/trust.ts";

type FleetWorldOptions = {
  readonly project: Project;
  readonly home: RunHome;
  readonly config: Config;
  readonly target: string;
  readonly link: FleetLink;
  readonly signs: Pick<Signs, "tell">;
  readonly onTaken: JobsChannel["onTaken"];
  readonly onReturned: JobsChannel["onReturned"];
  readonly termsOf: TermsOf;
};

export function openFleet(options: FleetWorldOptions) {
  const { project, home, config, target, link, signs, onTaken, onReturned, termsOf } = options;
  const { gitDir, top } = project.located;
  const { record } = home;
  const { run, base } = record;
  const { database, runId } = link;
  const remote = new GitRemote({ gitDir, remote: config.fleet.remote });
  const shared = new RemoteTarget({ gitDir, remote, run });
  const objects = new JobObjects({ gitDir, remote, shared, target, run });
  const offers = new FleetOffers({ ...link, run, termsOf, onQuiet: signs.tell, onTaken, onReturned });
  const labels = config.fleet.needs;
  const over = new AbortController();
  let pulling: Promise<void> | undefined;
  const giveKit = async () => {
    const there = await readRunFile(database, runId, KIT_FILE);
    if (hasFailed(there) || there.length > 0) return hasFailed(there) ? there : undefined;
    const url = await remote.url();
    if (typeof url !== "string") return url;
    const { push, maxBundle: maxBundleBytes } = config.fleet;
    const prompts = config.prompts === undefined ? undefined : path.resolve(top, config.prompts);
    const admit = admittedBy(trustOf(record), templateAsks);
    const files = await readKitFiles({ top, prompts, programs: programsOf(config), admit });
    const { agreed: _, ...unbound } = record; // Files that were not agreed to are not in the bundle.
    const kit: RunKit = { record: unbound, remote: url, push, maxBundleBytes, files };
    return writeRunFile(database, runId, KIT_FILE, Buffer.from(JSON.stringify(kit)));
  };
  return {
    ...{
      shared,
      close: async () => {
        over.abort();
        await offers.close();
        await pulling;
      },
    },
    notice: () => withoutWorkers(database),
    gateOf: (own: Gate): Gate => new FleetGate({ offers, objects, own, labels }),
    queueOf: (own: InProcessJobQueue, jobs: JobParts, isFunctions: boolean) => {
      pulling ??= keepPulling(home, over.signal);
      return new PgBossJobQueue({
        ...{ run, offers, objects, own, labels, onTaken, salvageRef: salvageRefOf },
        travels: (kind) => !isFunctions && (kind === "work" || typeof jobs.planner === "object"),
        evidenceOf: (from, commit, signal) => evidenceOf(from, commit, jobs, signal),
        readFile: async (name) => {
          const bytes = await readRunFile(database, runId, name);
          return hasFailed(bytes) || bytes.length === 0 ? undefined : bytes;
        },
      });
    },
    placeOf: (own: GitPlace) =>
      new FleetPlace({
        own,
        shared,
        objects,
        target,
        base,
        fence: link.fence,
        giveKit,
        cancelOthers: () => offers.cancelAll(GATES),
      }),
  };
}
