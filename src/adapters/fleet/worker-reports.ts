/** Sends a worker's reports about its jobs, each with the job's permit: that a turn is quiet, or wants a model. */
import type { JobId } from "../../core/job.ts";
import { failedWith } from "../../core/result.ts";
import type { OfferedJob } from "../../ports/fleet-jobs.ts";
import type { Signs } from "../../ports/signs.ts";
import type { Database } from "./database.ts";

export class WorkerReports {
  readonly #database: Database;
  /** The permits of jobs. A gate's is under the name of the landing or check that it belongs to. */
  readonly #permits = new Map<JobId, string>();

  constructor(database: Database) {
    this.#database = database;
  }

  readonly begin = ({ job, permit, what }: OfferedJob): void => {
    this.#permits.set(what.is === "brief" ? job : what.tree.job, permit);
  };

  /** Gives the permit by which calls of models are admitted. */
  readonly permitOf = async ({ job }: { readonly job: JobId }) => {
    const permit = this.#permits.get(job);
    return permit === undefined ? failedWith("interrupted", `this worker has no job ${job}`) : { permit };
  };

  readonly tell: Signs["tell"] = ({ job, ms, doing, isPrepared }) => {
    const permit = this.#permits.get(job);
    if (permit === undefined) return;
    const body = JSON.stringify({ is: "quiet", ms, doing, isPrepared });
    // Not awaited: it is only a heartbeat, and a later one may come.
    void this.#database.ask("SELECT $S.worker_report($1, $2)", [permit, body]);
  };
}
