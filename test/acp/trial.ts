/** Tries a third-party agent in a real run, as planner and worker, against a model server over HTTP. */
import { mkdir } from "node:fs/promises";
import path, { delimiter } from "node:path";
import { jobId } from "../../src/core/job.ts";
import type { Event } from "../../src/core/log/event.ts";
import { makePlace } from "../e2e/cli-place.ts";
import {
  type Answerer,
  type Reply,
  type SeenCall,
  startModelServer,
} from "../support/model-server/model-server.ts";
import { placeIn } from "../support/place.ts";
import type { Installed } from "./install.ts";
import { KEY, type Recipe } from "./recipes.ts";

export type Trial = {
  readonly exitCode: number | null;
  /**
   * The number of the three tasks whose file is on the target as the worker wrote it; 0 if the user's checkout was
   * touched.
   */
  readonly landed: number;
  readonly runMs: number;
  /** The duration of each turn, by job. */
  readonly turnsMs: Readonly<Record<string, number>>;
  readonly calls: number;
  /** The tokens as the server counted them, and as the agent reported them. */
  readonly tokens: { readonly counted: number; readonly said: number };
  /** What the command printed, if the trial failed. */
  readonly shown?: string;
};

/** The third task waits for the first. */
export const TASKS = [
  { id: "one", file: "one.txt", after: [] },
  { id: "two", file: "two.txt", after: [] },
  { id: "three", file: "three.txt", after: ["one"] },
] as const;

/** A run of opencode takes 25 s on an idle machine, and four minutes at a load of 20. */
const MAX_MS = 600_000;

const textOf = (file: string) => `hello from ${file}`;

export async function trial(recipe: Recipe, { bin }: Installed, isVerbose: boolean): Promise<Trial> {
  await using place = await makePlace({ files: { "README.md": "# here\n" }, name: "repository" });
  const tell = (call: SeenCall) =>
    isVerbose && console.error(`call ${call.n}: ${call.messages.length} messages; ${call.tools.join(" ")}`);
  await using server = await startModelServer({ answer: answers(recipe, tell), keys: [KEY] });
  const home = path.join(place.folder, "home");
  await mkdir(home, { recursive: true });
  const variables = await recipe.prepare(server.url, home);
  const PATH = [bin, path.dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const { skein } = place.with({ env: { ...variables, PATH }, maxMs: MAX_MS });
  const start = performance.now();
  const { code, out, err } = await skein(
    "run",
    "write three greetings",
    "--agent",
    recipe.name,
    "--set",
    "gate=none",
  );
  const runMs = Math.round(performance.now() - start);
  const [, run = ""] = /^run +(\S+)$/m.exec(out) ?? [];
  const shown = ({ file }: (typeof TASKS)[number]) =>
    place.repository.git("show", `skein/${run}/target:${file}`).then(
      (text) => text === textOf(file),
      () => false, // The file is not on the target.
    );
  const isUntouched = (await place.repository.git("status", "--porcelain")) === "";
  const landed = isUntouched ? (await Promise.all(TASKS.map(shown))).filter(Boolean).length : 0;
  const { out: log } = await skein("logs", run, "--json");
  const events = log
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Event);
  const { input, output, calls } = server.tokens();
  return {
    exitCode: code,
    landed,
    runMs,
    ...turnsIn(events),
    calls,
    tokens: { counted: input + output, said: saidIn(events) },
    ...(code === 0 && landed === TASKS.length ? {} : { shown: `${out}\n${err}` }),
  };
}

/** Answers as a planner that wants three files, and as workers that write one file each with the agent's own tool. */
function answers(recipe: Recipe, tell: (call: SeenCall) => void): Answerer {
  return (call): Reply => {
    tell(call);
    const told = call.messages.map(({ text }) => text).find((text) => placeIn(text) !== undefined) ?? "";
    // Calls for a title and the like.
    if (told === "" || call.tools.length === 0) return { text: recipe.aside ?? "Greetings" };
    if (/^Turn: /m.test(told)) return { text: JSON.stringify(planFor(told)) };
    const has = call.messages.some(({ toolResults }) => toolResults.length > 0);
    const cwd = /(?:working directory|cwd)\W*\s*(\/[^\s<"\\]+)/i.exec(JSON.stringify(call.body))?.[1] ?? ".";
    const [, file = "unknown.txt"] = /\bwrite (\w+\.txt)\b/.exec(told) ?? [];
    if (!has) return { text: "I write it.", tools: [recipe.writes(file, textOf(file), cwd)] };
    return { text: `It is there.\n${JSON.stringify({ status: "complete", summary: `wrote ${file}` })}` };
  };
}

const planFor = (told: string) => ({
  scratchpad: "three files",
  tasks: told.includes("None of your answers has been accepted yet.")
    ? TASKS.map(({ id, file, after }) => ({
        ...{ id, after, description: `write ${file}`, acceptance: "it greets", scope: [file] },
      }))
    : [],
});

function turnsIn(events: readonly Event[]): Pick<Trial, "turnsMs"> {
  const began = new Map<string, number>();
  const turnsMs: Record<string, number> = {};
  for (const event of events) {
    if (event.type === "job.started") began.set(jobId(event.job), event.at);
    if (event.type === "job.ended" && /^(?:plan|work):/.test(event.job)) {
      turnsMs[event.job] = event.at - (began.get(event.job) ?? event.at);
    }
  }
  return { turnsMs };
}

const saidIn = (events: readonly Event[]): number =>
  events.reduce((sum, event) => sum + (event.type === "job.ended" ? (event.spent?.tokens ?? 0) : 0), 0);
