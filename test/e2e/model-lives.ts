/** Interrupts a run on a model at chosen calls, and resumes it until it has ended. */
import { globSync } from "node:fs";
import path from "node:path";
import type { Script } from "../../src/ports/agent-script.ts";
import type { Answerer, Reply, SeenCall } from "../support/model-server/model-server.ts";
import { playsScript } from "../support/model-server/plays-script.ts";
import type { Ended, Started } from "./cli-place.ts";
import { counted, jobOf, PRICES } from "./model-accounting.ts";
import type { ModelPlace } from "./model-place.ts";

export const SETS = {
  gate: "none",
  prices: PRICES,
  "retry.first": "1ms",
  "retry.max": "1ms",
  sandbox: "off",
};
export const HANG: Reply = { fault: { is: "hang" } };

export const task = (id: string, after: readonly string[] = []) => ({
  ...{ id, description: `write ${id}.txt`, scope: [`${id}.txt`], acceptance: "it is there", after },
});
export const writes = (id: string, status = "complete") => ({
  steps: [{ do: "write", path: `${id}.txt`, text: `${id}\n` } as const],
  end: { handoff: { status, summary: `wrote ${id}` } },
});

/** A reply for a call, by its job and its number within the turn: "work:t.1#1 2" is the second call. */
export type Incidents = Readonly<Record<string, (call: SeenCall) => Reply | Promise<Reply>>>;

export function withIncidents(script: Script, incidents: Incidents): Answerer {
  const made = new Map<string, number>();
  return counted((call, signal) => {
    const job = jobOf(call);
    made.set(job, (made.get(job) ?? 0) + 1);
    const incident = incidents[`${job} ${made.get(job)}`];
    return incident ? incident(call) : playsScript(script)(call, signal);
  });
}

/** Resumes the run again and again, until it ends by itself. */
export async function toTheEnd(place: ModelPlace, onStart: (live: Started) => void): Promise<Ended> {
  let live = place.start("run", "write some files", ...place.settings);
  for (let lives = 0; lives < 12; lives += 1) {
    onStart(live);
    const ended = await live.ended;
    if (ended.code === 0 || ended.code === 1) return ended;
    live = place.start("resume");
  }
  throw new Error("it was resumed so often, and has no end");
}

/** The name of the place's only run. */
export function runIn({ state }: ModelPlace): string {
  const [folder = ""] = globSync(path.join(state, "*/runs/*"));
  return path.basename(folder);
}
