/** Makes a model's provider fail at a chosen call of a small run, for tests of provider errors. */

import type { Event } from "../../src/core/log/event.ts";
import { nothingSeen, type RunView, see, viewOf } from "../../src/core/view/view.ts";
import type { Script } from "../../src/ports/agent-script.ts";
import type { Answerer, ModelServer, Reply, SeenCall } from "../support/model-server/model-server.ts";
import { playsScript } from "../support/model-server/plays-script.ts";
import { placeIn } from "../support/place.ts";
import { plans, task, writes } from "../support/scripts.ts";
import type { Ended } from "./cli-place.ts";
import { type ModelPlace, type ModelPlaceOptions, makeModelPlace } from "./model-place.ts";

/** Both wire formats, for tests where providers differ in what they answer. */
export const WIRES = ["openai-chat", "anthropic"] as const;

/**
 * A plan of one task for each name, which writes the file of that name. Each worker makes two calls; the planner's come
 * before and after.
 */
export const scriptOf = (...names: readonly string[]): Script => ({
  plans: { t: [plans(...names.map((name) => task(name)))] },
  work: Object.fromEntries(names.map((name) => [name, [writes(`${name}.txt`)]])),
});

export type Where = {
  readonly kind: "plan" | "work";
  /** The task's name; the root task has the name of its goal. */
  readonly key: string;
  /** The number of the attempt or turn, from 1. */
  readonly number: number;
  /** How many tool results its conversation has so far. */
  readonly steps: number;
  /** How often this call was made, with this one: from 1. */
  readonly time: number;
};

/** What the provider answers instead; undefined: it answers as in the script. */
export type Failing = (
  where: Where,
  call: SeenCall,
  signal: AbortSignal,
) => Reply | undefined | Promise<Reply | undefined>;

export function failing(fault: Failing, script = scriptOf("one")): Answerer {
  const play = playsScript(script);
  const times = new Map<string, number>();
  return async (call, signal) => {
    const asked = whereOf(call);
    const id = JSON.stringify(asked);
    const time = (times.get(id) ?? 0) + 1;
    times.set(id, time);
    return (await fault({ ...asked, time }, call, signal)) ?? play(call, signal);
  };
}

/** Fails one call only: the worker's second, when its work could be lost. */
export const atHandoff =
  (reply: (call: SeenCall) => Reply, times = 1): Failing =>
  ({ kind, steps, time }, call) =>
    kind === "work" && steps === 1 && time <= times ? reply(call) : undefined;

export function whereOf({ messages, tools }: SeenCall): Omit<Where, "time"> {
  const said = messages.findLast(({ role, text }) => role === "user" && placeIn(text));
  const { key = "", number = 0 } = placeIn(said?.text ?? "") ?? {};
  const steps = messages.reduce((all, { toolResults }) => all + toolResults.length, 0);
  return { kind: tools.includes("plan") ? "plan" : "work", key, number, steps };
}

export const SETS = { gate: "none", "retry.first": "20ms" };

export const makeFaulty = (options: ModelPlaceOptions): Promise<ModelPlace> =>
  makeModelPlace({ ...options, sets: { ...SETS, ...options.sets } });

export type Ran = Ended & {
  readonly run: string;
  readonly events: readonly Event[];
  readonly view: RunView;
  /** Everything that the command printed, for messages of assertions. */
  readonly all: string;
};

/** Reads the run's log and report after its end. */
export async function ranOf(place: ModelPlace, ended: Ended, name?: string): Promise<Ran> {
  const run = name ?? /^run +(\S+)$/m.exec(ended.out)?.[1] ?? "none";
  const { out } = await place.skein("logs", run, "--json");
  const events = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Event);
  const view = viewOf(events.reduce(see, nothingSeen()));
  return { ...ended, run, events, view, all: ended.out + ended.err };
}

export const runIn = async (place: ModelPlace, ...more: readonly string[]): Promise<Ran> =>
  ranOf(place, await place.skein("run", "write some files", ...place.settings, ...more));

export const ofType = <T extends Event["type"]>(events: readonly Event[], type: T) =>
  events.filter((event): event is Extract<Event, { readonly type: T }> => event.type === type);

/** Attempts that workers started: more than there are tasks means that one was repeated. */
export const attempts = ({ events }: Pick<Ran, "events">): number =>
  ofType(events, "job.started").filter(({ job }) => job.kind === "work").length;

/** The calls for a task: of all its attempts, or of one. */
export const callsFor = ({ calls }: ModelServer, name: string, attempt?: number): readonly SeenCall[] =>
  calls.filter((call) => {
    const { kind, key, number } = whereOf(call);
    return kind === "work" && key === name && (attempt ?? number) === number;
  });

/** The tasks that lost an attempt. */
export const blamed = ({ events }: Pick<Ran, "events">): readonly string[] =>
  ofType(events, "task.retried").flatMap(({ task: id, charge }) => (charge === "nothing" ? [] : [id]));
