/** Hands commands to a run from any machine, as rows in Postgres, each taken once. */
import { randomUUID } from "node:crypto";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Heard, Letter, Mailbox, MailboxMessage, Received } from "../../ports/mailbox.ts";
import { readCommand } from "../mailboxes.ts";
import type { Database } from "./database.ts";

export class FleetMailbox implements Mailbox {
  readonly #database: Database;
  readonly #run: string;

  /** `run`: the run's number in the database. */
  constructor(database: Database, run: string) {
    this.#database = database;
    this.#run = run;
  }

  async send(command: MailboxMessage): Promise<Letter | Failed> {
    const id = randomUUID(); // A command that is sent twice is stored once.
    const sent = await this.#ask(
      `WITH sent AS (
         INSERT INTO $S.letter (id, run, command) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING RETURNING run)
       SELECT pg_notify('$N:mail:' || run, '') FROM sent`,
      [id, this.#run, JSON.stringify(command)],
    );
    if (hasFailed(sent)) return sent;
    return { answer: (signal) => this.#answer(id, signal), withdraw: () => this.#withdraw(id) };
  }

  async *receive(signal: AbortSignal, onCaughtUp?: () => void): AsyncGenerator<Received> {
    using nudges = this.#nudges();
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const waiting = await this.#ask<{ id: string }>(
        "SELECT id FROM $S.letter WHERE run = $1 AND taker IS NULL ORDER BY place",
        [this.#run],
      );
      if (hasFailed(waiting) && isFirst) throw new Error(waiting.failure.message);
      for (const { id } of hasFailed(waiting) ? [] : waiting) {
        const received = await this.#receive(id);
        if (received) yield received;
        if (signal.aborted) return;
      }
      onCaughtUp?.();
      await nudges.next(signal);
    }
  }

  async #receive(id: string): Promise<Received | undefined> {
    const taken = await this.#take(id);
    if (taken === undefined) return undefined; // It was withdrawn in between, or another process was faster.
    const answer = async (heard: Heard) => {
      await this.#ask(
        `WITH answered AS (UPDATE $S.letter SET answer = $2 WHERE id = $1 RETURNING run)
         SELECT pg_notify('$N:mail:' || run, '') FROM answered`,
        [id, JSON.stringify(heard)],
      ); // If that fails, the sender gets no answer.
    };
    const command = readCommand(taken);
    if (command) return { command, answer };
    await answer({ is: "refused", reason: "this version does not know that command" });
    return undefined;
  }

  /** Returns the command if this call takes it, even if the answer to a first try was lost. */
  async #take(id: string): Promise<string | undefined> {
    const rows = await this.#ask<{ command: string }>(
      "UPDATE $S.letter SET taker = $2 WHERE id = $1 AND (taker IS NULL OR taker = $2) RETURNING command",
      [id, randomUUID()],
    );
    return hasFailed(rows) ? undefined : rows[0]?.command;
  }

  async #withdraw(id: string): Promise<boolean> {
    if ((await this.#take(id)) === undefined) return false;
    await this.#ask("DELETE FROM $S.letter WHERE id = $1", [id]);
    return true;
  }

  async #answer(id: string, signal: AbortSignal): Promise<Heard | undefined> {
    using nudges = this.#nudges();
    for (; !signal.aborted; await nudges.next(signal)) {
      const rows = await this.#ask<{ answer: string | null }>("SELECT answer FROM $S.letter WHERE id = $1", [
        id,
      ]);
      const heard = hasFailed(rows) ? undefined : rows[0]?.answer;
      if (!heard) continue;
      await this.#ask("DELETE FROM $S.letter WHERE id = $1", [id]);
      return JSON.parse(heard) as Heard;
    }
    return undefined;
  }

  #nudges() {
    return this.#database.nudges(`mail:${this.#run}`);
  }

  #ask<Row extends object>(text: string, values: readonly unknown[]) {
    return this.#database.ask<Row>(text, values);
  }
}
