/** Tells planners and workers which commands a change must pass, how long these take, and how many workers are free. */
import type { GateTold, WorkersTold } from "../core/brief.ts";
import { duration } from "../text/words.ts";
import type { MessagePart } from "./message.ts";

export function gatePart(gate: GateTold | undefined): MessagePart {
  const title = "The gate";
  if (gate === undefined) return { title };
  return {
    title,
    says:
      "Every change is merged with what has landed before it and must then pass all of these commands." +
      (gate.ms === undefined ? "" : ` Together they take up to ${duration(gate.ms)} here.`),
    pieces: gate.commands.slice(0, MAX_COMMANDS).map((text) => ({ head: "- ", as: "line", text })),
  };
}

const MAX_COMMANDS = 20;

export function workersPart(workers: WorkersTold | undefined): MessagePart {
  const title = "Workers";
  if (workers === undefined) return { title };
  const { atOnce, free } = workers;
  return { title, says: `Tasks that can be at work at once: ${atOnce}\nWorkers without a task now: ${free}` };
}
