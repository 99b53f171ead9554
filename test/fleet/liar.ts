/** A hostile worker, as a mishap of a fleet: it uses its role in every way that harms others, until the run is over. */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import type { JobOffer } from "../../src/ports/fleet-jobs.ts";
import { openRepository } from "../support/repositories.ts";
import { asRole, type FleetPlace } from "./fleet-place.ts";

/** `over`: once the run is over, resolves to what the worker could do and should not have been able to. */
export type Lies = { readonly over: Promise<readonly string[]> };

/** Works in the background. `others`: the names of the workers that live now. */
export const lie = (place: FleetPlace, others: () => readonly string[], isOver: () => boolean): Lies => ({
  over: new Liar(place, others, isOver).work(),
});

class Liar {
  readonly #place: FleetPlace;
  readonly #others: () => readonly string[];
  readonly #successes: string[] = [];
  readonly #token = randomUUID();
  readonly #name = `liar-${this.#token.slice(0, 8)}`;
  readonly #remote: ReturnType<typeof openRepository>;
  readonly #isOver: () => boolean;
  #client: Client | undefined;
  /**
   * Limits how many jobs it takes and abandons: a job fails once machines have lost it four times, which is within a
   * worker's rights.
   */
  #left = { brief: 1, gate: 2 };

  constructor(place: FleetPlace, others: () => readonly string[], isOver: () => boolean) {
    this.#place = place;
    this.#isOver = isOver;
    this.#others = others;
    this.#remote = openRepository(place.remote);
  }

  async work(): Promise<readonly string[]> {
    for (let round = 0; !this.#isOver(); round += 1) {
      // The statement was refused, or the session was ended.
      for (const attempt of [this.#flood, this.#holdOpen, this.#answerWith])
        if (!this.#isOver()) await attempt(round).catch(() => this.#drop());
      await pause(200);
    }
    await this.#drop();
    return this.#successes;
  }

  /** Uses the last session, or a new one if the last one was dropped. */
  async #ask(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    if (!this.#client) {
      const url = asRole(this.#place.url, this.#place.role);
      this.#client = new Client({ connectionString: url, application_name: `skein worker ${this.#name}` });
      this.#client.on("error", () => {}); // The session was ended.
      await this.#client.connect();
    }
    return (await this.#client.query(text, [...values])).rows;
  }

  async #drop(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {}); // The session may be gone.
  }

  /** Takes a job, if one waits. Other machines must get the job all the same. */
  async #take(): Promise<{ readonly permit: string; readonly offer: JobOffer } | undefined> {
    await this.#ask("SELECT skein.worker_join($1, $2, '{}', 1000, '1')", [this.#name, this.#token]);
    const permit = randomUUID();
    const [taken] = await this.#ask("SELECT * FROM skein.worker_take($1, $2, 0)", [permit, this.#token]);
    const offer = taken?.["offer"];
    return typeof offer === "string" ? { permit, offer: JSON.parse(offer) } : undefined;
  }

  /** Sends heartbeats for other workers, and joins under other names without end. */
  readonly #flood = async (): Promise<void> => {
    for (let i = 0; i < 200; i += 1) {
      await this.#ask("SELECT skein.worker_seen($1, 'gone', '{}')", [randomUUID()]);
      const others = this.#others();
      const other = i % 2 === 0 ? others[(i / 2) % others.length] : undefined;
      const name = other ?? `${this.#name}-${i}`;
      const [joined] = await this.#ask("SELECT skein.worker_join($1, $2, '{}', 1, '1') AS is", [
        name,
        randomUUID(),
      ]);
      if (other && joined?.["is"] === "joined" && this.#others().includes(other))
        this.#successes.push(`the liar took the name ${name} from a worker that lives`);
    }
  };

  /** Holds a job, the run's calls and the worker's row in one open transaction. */
  readonly #holdOpen = async (): Promise<void> => {
    await this.#ask("BEGIN");
    const taken = await this.#take();
    if (taken) {
      await this.#ask("SELECT skein.worker_report($1, '{}')", [taken.permit]);
      await this.#ask("SELECT * FROM skein.admit($1, gen_random_uuid(), '{a}', 0, 0)", [taken.permit]);
    }
    const begun = performance.now();
    while (performance.now() - begun < MAX_HELD_MS) {
      await pause(500);
      await this.#ask("SELECT 1"); // Fails once the session was ended.
      // The run is over, so no coordinator waits for the locks any more.
      if (this.#isOver()) return void (await this.#ask("ROLLBACK"));
    }
    this.#successes.push(`the liar held a transaction open for ${MAX_HELD_MS} ms`);
    await this.#ask("ROLLBACK");
  };

  /** Does everything that a permit allows, and then answers with a commit that it did not make. */
  readonly #answerWith = async (round: number): Promise<void> => {
    await this.#ask("BEGIN"); // Without a transaction, each job that it takes would count as a try of that job.
    const taken = await this.#take();
    const kind = taken?.offer.what.is === "brief" ? "brief" : "gate";
    if (!taken || this.#left[kind] === 0) return void (await this.#ask("ROLLBACK"));
    this.#left[kind] -= 1;
    await this.#ask("COMMIT");
    const { permit, offer } = taken;
    const [refused] = await this.#ask(
      "SELECT skein.refuse($1, 'of another run', 'quota', 1e12, '{}') AS taken",
      [permit],
    );
    if (refused?.["taken"]) this.#successes.push("the liar parked an account of another run");
    for (const file of ["kit.json", "turns/work-t.99-1/handoff.json", "scratchpad/x", "../x"]) {
      const [wrote] = await this.#ask("SELECT skein.worker_write($1, $2, 0, 'x') AS wrote", [permit, file]);
      if (wrote?.["wrote"]) this.#successes.push(`the liar wrote ${file}`);
    }
    for (let i = 0; i < 100; i += 1) await this.#ask("SELECT skein.worker_report($1, '{}')", [permit]);
    const foreign = (await this.#remote.git("rev-parse", "main")).trim();
    await this.#remote.git("update-ref", `refs/skein/fleet/${offer.run}/foreign-${round}`, foreign);
    const outcome = { is: "failed", failure: { kind: "interrupted", message: "the liar was here" } };
    const made = { commit: foreign, as: "branch" };
    const result = JSON.stringify({ result: JSON.stringify({ is: "answer", answer: { outcome }, made }) });
    // A gate run that ends like this does not count. A planner's or worker's answer would be believed, so it sends
    // none.
    if (kind === "gate") await this.#ask("SELECT skein.worker_answer($1, $2)", [permit, result]);
  };
}

/** Longer than a worker's session may hold locks that others wait for. */
const MAX_HELD_MS = 12_000;
