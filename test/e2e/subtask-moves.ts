/** Plays a worker that delegates: one reply for each model call, by its job and its number within the turn. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Answerer, Reply, SeenCall } from "../support/model-server/model-server.ts";
import { plainEnvironment } from "../support/repositories.ts";
import { jobOf } from "./model-accounting.ts";
import { SETS } from "./model-lives.ts";
import { agentOf, KEY, type ModelPlace } from "./model-place.ts";

/** "work:t.1#1 2" is the second call of the first attempt at t.1. */
export type Moves = Readonly<Record<string, Reply | ((call: SeenCall) => Reply)>>;

/** A call without a reply fails visibly. The planner's turn plans one task, whose files are a.txt and b.txt. */
export function playsMoves(moves: Moves): Answerer & { readonly made: ReadonlyMap<string, SeenCall> } {
  const made = new Map<string, SeenCall>();
  const answer: Answerer = (call) => {
    const job = jobOf(call);
    const n = [...made.keys()].filter((name) => name.startsWith(`${job} `)).length + 1;
    made.set(`${job} ${n}`, call);
    const move = moves[`${job} ${n}`] ?? PLANS[`${job} ${n}`];
    if (move === undefined)
      return { fault: { is: "status", status: 400, body: { error: `no ${job} ${n}` } } };
    return typeof move === "function" ? move(call) : move;
  };
  return Object.assign(answer, { made });
}

const TASK = {
  id: "a",
  description: "write a.txt and b.txt",
  scope: ["a.txt", "b.txt"],
  acceptance: "they are there",
};
const PLANS: Moves = {
  "plan:t#1 1": { tools: [{ name: "plan", input: { scratchpad: "", tasks: [TASK] } }] },
  "plan:t#2 1": { tools: [{ name: "plan", input: { scratchpad: "", tasks: [], done: true } }] },
};

export const calls = (name: string, input: object): Reply => ({ tools: [{ name, input }] });
export const writes = (file: string) => calls("write", { path: file, content: `${file}\n` });
export const handsOff = (summary: string) => calls("handoff", { status: "complete", summary });
export const delegates = (more: object = {}) =>
  calls("spawn_subtask", { type: "writing", description: "write b.txt", inputs: { file: "b.txt" }, ...more });

/**
 * Runs Skein in a process that dies right before or after that event of that task is on the disk; resolves to the
 * signal that ended it.
 */
export async function runDeadly(
  { repository, folder, state, server }: ModelPlace,
  wire: "openai-chat" | "anthropic",
  fatal: { readonly when: "before" | "after"; readonly type: string; readonly task: string },
): Promise<unknown> {
  const settings = JSON.stringify({ ...SETS, agent: agentOf(server.url, wire) });
  const home = { HOME: path.join(folder, "home"), SKEIN_STATE_DIR: state, MODEL_KEY: KEY };
  const words = [fatal.when, fatal.type, fatal.task];
  const child = spawn(process.execPath, [DEADLY, repository.folder, settings, ...words], {
    env: { ...plainEnvironment(), ...home },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [, signal] = await once(child, "exit");
  return signal;
}

const DEADLY = fileURLToPath(new URL("../support/deadly-run.ts", import.meta.url));
