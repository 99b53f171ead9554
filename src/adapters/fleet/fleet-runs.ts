/** Keeps the runs of a fleet in Postgres, so that any machine with a clone can show and continue them. */
import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Mailbox } from "../../ports/mailbox.ts";
import type { Owner, RunHome, RunLock, RunRecord, Runs, UnreadableRun } from "../../ports/runs.ts";
import { FolderMailbox } from "../mailboxes.ts";
import { badName, takenName, unknownRun } from "../runs/folder-runs.ts";
import { isRunName, readRecord, recordText } from "../runs/run-record.ts";
import { stopProcess } from "../runs/stop-process.ts";
import { withoutBlockers } from "./blocking-sessions.ts";
import type { Database } from "./database.ts";
import { FleetEventLog } from "./event-log.ts";
import { askToStop, leaseOwner, takeLease } from "./lease.ts";
import { FleetMailbox } from "./mailbox.ts";

type FleetRunsOptions = {
  readonly database: Database;
  /** The name that all clones of the repository have for it. */
  readonly repository: string;
  /** Where this machine keeps its own data of runs; no other machine needs it. */
  readonly folder: string;
};

type Row = { readonly id: string; readonly key: string; readonly name: string; readonly record: string };

export class FleetRuns implements Runs {
  readonly #options: FleetRunsOptions;

  constructor(options: FleetRunsOptions) {
    this.#options = options;
  }

  async create(record: RunRecord): Promise<FleetRun | Failed> {
    const { run, createdAt } = record;
    if (!isRunName(run)) return { failure: badName(run) };
    const { database, repository } = this.#options;
    const key = randomUUID();
    const rows = await database.ask<Row>(
      `INSERT INTO $S.run (repository, name, key, record, created_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (repository, name) DO UPDATE SET name = excluded.name WHERE $S.run.key = excluded.key
       RETURNING id, key, name, record`,
      [repository, run, key, recordText(record), createdAt],
    );
    if (hasFailed(rows)) return rows;
    const home = rows[0] ? this.#home(rows[0]) : { failure: takenName(run) };
    if (!hasFailed(home)) await mkdir(home.folder, { recursive: true, mode: 0o700 });
    return home;
  }

  async open(run: string): Promise<RunHome | Failed> {
    if (!isRunName(run)) return { failure: badName(run) };
    const rows = await this.#rows();
    if (hasFailed(rows)) return rows;
    const found = rows.find(({ name }) => name === run);
    if (found) return this.#home(found);
    return unknownRun(
      run,
      rows.map(({ name }) => name),
    );
  }

  async list(): Promise<readonly (RunRecord | UnreadableRun)[]> {
    const rows = await this.#rows();
    if (hasFailed(rows)) return [{ ...rows, run: "" }];
    return rows.map((row) => ({ ...recordOf(row), run: row.name }));
  }

  /** In Postgres a run is removed in one statement, so nothing is left to finish. */
  async finishRemoval(): Promise<boolean> {
    return false;
  }

  #rows(): Promise<readonly Row[] | Failed> {
    const { database, repository } = this.#options;
    return database.ask<Row>(
      "SELECT id, key, name, record FROM $S.run WHERE repository = $1 ORDER BY created_at DESC, name DESC",
      [repository],
    );
  }

  #home(row: Row): FleetRun | Failed {
    const record = recordOf(row);
    if (hasFailed(record)) return record;
    const { database, folder } = this.#options;
    const own = path.join(folder, "fleet", `${row.name}-${row.key.slice(0, 8)}`);
    return new FleetRun({ database, id: row.id, record: record as RunRecord, folder: own });
  }
}

const recordOf = ({ name, record }: Row): RunRecord | Failed =>
  readRecord(name, "in the fleet's Postgres", record);

type FleetRunOptions = {
  readonly database: Database;
  /** The run's number in Postgres. */
  readonly id: string;
  readonly record: RunRecord;
  readonly folder: string;
};

export class FleetRun implements RunHome {
  readonly id: string;
  readonly database: Database;
  readonly record: RunRecord;
  readonly folder: string;
  readonly log: FleetEventLog;
  readonly mailbox: Mailbox;
  #isRemoved = false;

  constructor({ database, id, record, folder }: FleetRunOptions) {
    this.id = id;
    this.database = database;
    this.record = record;
    this.folder = folder;
    this.log = new FleetEventLog(database, this.#name);
    this.mailbox = new FleetMailbox(database, id);
  }

  async lock(): Promise<RunLock | Failed> {
    const lease = await takeLease(this.database, this.#name);
    if (hasFailed(lease)) return lease;
    this.log.fence = lease.fence;
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const discard = async () => {
      const removed = await withoutBlockers(this.database, () =>
        this.database.ask("DELETE FROM $S.run WHERE id = $1 AND fence = $2", [this.id, lease.fence]),
      );
      if (!hasFailed(removed)) {
        this.#isRemoved = true;
        await rm(this.folder, { recursive: true, force: true });
      }
      await lease.release();
      return hasFailed(removed) ? removed : undefined;
    };
    return { release: lease.release, discard, lost: lease.lost };
  }

  isThere(): boolean {
    return !this.#isRemoved;
  }

  /** Called when a log is empty and may be lost. In Postgres the log and the run are kept together, so it cannot be. */
  async hasJobs(): Promise<boolean> {
    return false;
  }

  async owner(): Promise<Owner | undefined> {
    const owner = await leaseOwner(this.database, this.#name);
    if (owner && hasFailed(owner)) throw new Error(owner.failure.message);
    return owner;
  }

  async stop(owner: Owner, isUrgent: boolean): Promise<Failed | undefined> {
    if (owner.host === undefined) return stopProcess(owner, isUrgent);
    return askToStop(this.database, this.#name, isUrgent);
  }

  get #name() {
    return { id: this.id, name: this.record.run };
  }
}

/** The run's fleet connection, once this process has its lease; undefined for a run of one machine. */
export function fleetLinkOf(home: RunHome): FleetLink | undefined {
  if (!(home instanceof FleetRun)) return undefined;
  return { database: home.database, runId: home.id, fence: home.log.fence };
}

export type FleetLink = {
  readonly database: Database;
  readonly runId: string;
  readonly fence: number;
};

/** The mailbox of a run, where any process can leave commands, whether the run goes on now or later. */
export const mailboxOf = (home: RunHome): Mailbox =>
  home instanceof FleetRun ? home.mailbox : new FolderMailbox(path.join(home.folder, "commands"));
