/** Simulates workers that change the gate and people that decide about it; only allowed changes may land. */

import type { Member } from "../../src/core/job.ts";
import type { Event } from "../../src/core/log/event.ts";
import type { GateChange } from "../../src/core/rules/gate-changes.ts";
import type { Policy } from "../../src/core/rules/policy.ts";
import { contains } from "../../src/core/scope.ts";
import type { TaskId } from "../../src/core/task.ts";
import type { Message } from "../../src/engine/inbox.ts";
import { randomFrom, seedFor } from "../../src/simulation/random.ts";
import type { Tally } from "./faults.ts";
import type { Reaction } from "./simulate.ts";
import { must } from "./violation.ts";
import type { Script } from "./virtual-queue.ts";

/** Uses random numbers of its own, so that all else happens as before. */
export class GateChangers {
  readonly allowed: Policy["gateChanges"];
  readonly #seed: number;
  readonly #faults: Tally;
  readonly #random;
  readonly #chance: number;
  readonly #declines: number;
  /** Attempts that changed the gate, and whether the changed file is in their scope. */
  readonly #made = new Map<string, { readonly isInScope: boolean }>();
  readonly #approved = new Set<string>();
  readonly #attempt = new Map<TaskId, number>();

  constructor(seed: number, faults: Tally) {
    this.#seed = seed;
    this.#faults = faults;
    this.#random = randomFrom(seedFor(seed, "of part seven: gate changes"));
    // Only every fifth seed has such workers; the others go as they went before.
    this.#chance = seed % 5 === 1 ? this.#random.pick([0.1, 0.4]) : 0;
    this.allowed = this.#random.pick(["scope", "scope", "ask", "ask", "refuse", "flag"]);
    this.#declines = this.#random.pick([0, 0.5]);
  }

  script(script: Script): Script {
    return {
      ...script,
      work: (brief) => {
        const worked = script.work(brief);
        const { task, attempt, spec } = brief;
        const die = randomFrom(seedFor(this.#seed, `${task}.${attempt} changes the gate`));
        if (!die.chance(this.#chance) || !("evidence" in worked) || worked.evidence.commit === undefined)
          return worked;
        const file = die.chance(0.3) ? "package.json" : (worked.evidence.filesChanged[0] ?? "package.json");
        const change: GateChange = { of: die.pick(["gate", "agents"]), file, what: file };
        this.#made.set(`${task}.${attempt}`, { isInScope: contains(spec.scope, file) });
        this.#faults.add("gate changed");
        return { ...worked, evidence: { ...worked.evidence, gateChanges: [change] } };
      },
    };
  }

  /**
   * A message to an engine that dies before the message is durable is lost; so people repeat it until it must have
   * arrived.
   */
  react(event: Event): readonly Reaction[] {
    if (event.type !== "landing.proposed") return [];
    const { task } = event;
    const isDeclined = this.#random.chance(this.#declines);
    this.#faults.add(isDeclined ? "landing declined" : "landing approved");
    const first: Message = isDeclined
      ? { type: "decline", task, reason: "not the gate" }
      : { type: "approve", ...(this.#random.chance(0.5) && { task }) };
    const afterMs = this.#random.spread(1_000, 8 * 3_600_000);
    const again = Array.from({ length: 20 }, (_, hour) => ({
      afterMs: afterMs + (hour + 1) * 3_600_000,
      message: { type: "approve", task } as const,
    }));
    return [{ afterMs, message: first }, ...again];
  }

  /**
   * A change of the gate outside of its task's scope is refused. Where such changes are asked about, nothing of one lands
   * before a person has approved of it; where they are refused, nothing of one lands at all.
   */
  observe(event: Event): void {
    if (event.type === "task.handed-off") {
      this.#attempt.set(event.task, event.attempt);
      const made = this.#made.get(`${event.task}.${event.attempt}`);
      if (!made || this.allowed === "flag") return;
      must(this.allowed !== "refuse", `${event.task} changes the gate, and is not refused`);
      must(made.isInScope, `${event.task} changes the gate outside of its scope, and is not refused`);
      must(event.handoff.flags?.length === 1, `${event.task} changes the gate, and is not flagged`);
    }
    if (event.type === "landing.approved")
      this.#approved.add(`${event.task}.${this.#attempt.get(event.task)}`);
    if (event.type === "job.started" && event.job.kind === "land") this.#mayLand(event.job.members);
    if (event.type === "batch.landed") this.#mayLand(event.members);
  }

  #mayLand(members: readonly Member[]): void {
    for (const { task, attempt } of members) {
      const name = `${task}.${attempt}`;
      if (!this.#made.has(name)) continue;
      must(this.allowed !== "refuse", `${name} changes the gate, and lands`);
      must(this.allowed !== "ask" || this.#approved.has(name), `${name} lands before it is approved of`);
    }
  }
}
