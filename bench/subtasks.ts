/** Measures a subtask beside its own signature, at each depth, and a template's match beside a plain scan. */
import { hash } from "node:crypto";
import { canonicalJson } from "../src/subtasks/canonical.ts";
import { executeTask } from "../src/subtasks/execute.ts";
import { functionHandler } from "../src/subtasks/function-handler.ts";
import { TemplateRegistry } from "../src/subtasks/registry.ts";
import type { SubtaskRequest } from "../src/subtasks/request.ts";
import { type Bench, type BenchForm, type BenchReport, steadyCpuMs } from "./measure.ts";

export const subtasksBench: Bench = { name: "subtasks", run };

/** In turns, so that a busy minute affects all; the lowest value of each counts. */
const ROUNDS = 15;
const SHORT_ROUNDS = 6;
const SUBTASKS = 2_000;
const DEPTHS = [1, 2, 5, 10];
const TEMPLATES = 10_000;
const REQUESTS = 50;
/**
 * How often the requests are matched for each scan: a single match is so short that its ratio varied by a factor of
 * three.
 */
const MATCHES = 10;
const MAX_OF_FLOOR = 3;
/** The tenth level relative to the first. */
const MAX_GROWTH = 1.25;
const MAX_OF_SCAN = 3;

async function run(form: BenchForm = "whole"): Promise<BenchReport> {
  const rounds = form === "short" ? SHORT_ROUNDS : ROUNDS;
  const least = new Map<string, number>();
  const take = async (name: string, work: () => unknown) =>
    least.set(name, Math.min(least.get(name) ?? Infinity, await steadyCpuMs(work)));
  const { registry, descriptions } = manyTemplates();
  const inputs = Array.from({ length: SUBTASKS }, (_, n) => inputsOf(n));
  for (let round = -2; round < rounds; round += 1) {
    if (round === 0) least.clear(); // The first two rounds warmed up the code.
    await take("floor", () => floor(inputs));
    for (const depth of DEPTHS) await take(`depth ${depth}`, () => spawnAt(depth, inputs));
    await take("scan", () => requestsOf(round).map((request) => scan(descriptions, request)));
    await take("match", () => {
      for (let n = 0; n < MATCHES; n += 1) for (const request of requestsOf(round)) registry.match(request);
    });
  }
  return report((name) => least.get(name)!, rounds);
}

function report(ms: (name: string) => number, rounds: number): BenchReport {
  const [shallow, deep] = [ms(`depth ${DEPTHS[0]}`), ms(`depth ${DEPTHS.at(-1)}`)];
  const each = (name: string) => (ms(name) * 1000) / SUBTASKS;
  return {
    title:
      "subtasks: a parent's turn, the spawn, the child's one turn, and the result in the parent's session",
    tables: [
      {
        title: `inputs of 1 kB, a function as the handler, processor time, least of ${rounds} rounds`,
        rows: ["floor", ...DEPTHS.map((depth) => `depth ${depth}`)].map((name) => ({
          subtask: name === "floor" ? "canonical JSON + SHA-256 alone" : `at ${name}`,
          "µs each": each(name),
          "of the floor": each(name) / each("floor"),
        })),
      },
      {
        title: `${TEMPLATES.toLocaleString("en-US")} templates, requests that were never seen`,
        rows: [
          { way: "plain scan of the descriptions", "µs each": (ms("scan") * 1000) / REQUESTS },
          { way: "match by type, hints and words", "µs each": (ms("match") * 1000) / (REQUESTS * MATCHES) },
        ],
      },
    ],
    limits: [
      {
        claim: "a subtask beside its canonical JSON + SHA-256",
        measured: shallow / ms("floor"),
        max: MAX_OF_FLOOR,
      },
      { claim: "a subtask at depth 10 beside one at depth 1", measured: deep / shallow, max: MAX_GROWTH },
      {
        claim: "a match beside a plain scan",
        measured: ms("match") / MATCHES / ms("scan"),
        max: MAX_OF_SCAN,
      },
    ],
  };
}

/** About 1,000 characters of JSON, as a model would write them: a few long texts, some short fields. */
function inputsOf(n: number): Readonly<Record<string, unknown>> {
  return {
    goal: `Check part ${n} of the change. ${"The function must keep its order, and say what is missing. ".repeat(5)}`,
    files: ["src/core/rules/due.ts", "src/core/rules/decide.ts", "src/core/log/evolve.ts"].map(
      (file) => `${file}:${n}`,
    ),
    options: { strict: true, attempts: 3, tools: ["read", "search"], budget: { tokens: 20_000, ms: 60_000 } },
    background: "It was reported that waiting tasks are started twice after a restart. ".repeat(5),
    number: n,
    ratio: 0.75,
    label: null,
  };
}

const floor = (all: readonly Readonly<Record<string, unknown>>[]) =>
  all.map((inputs) => {
    const written = canonicalJson(inputs);
    return "text" in written ? hash("sha256", written.text, "hex") : "";
  });

/** Makes a chain down to a parent, which then spawns all the tasks one after the other. */
async function spawnAt(depth: number, inputs: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
  const handler = functionHandler(({ task, responses }) => {
    if (task.type === "leaf") return "done";
    if (task.depth < depth - 1) return responses.length > 0 ? "done" : asking("chain", { level: task.depth });
    return responses.length < inputs.length ? asking("leaf", inputs[responses.length]!) : "done";
  });
  const chain = { tasks: Infinity, ms: 600_000, tokens: Infinity };
  const limits = { maxDepth: 20, maxContinuations: Infinity, chain };
  const { status } = await executeTask(
    { name: "top", description: "Start" },
    {},
    { handler, registry: SPAWNED, limits },
  );
  if (status !== "COMPLETE") throw new Error(`the chain ended as ${status}`);
}

const asking = (type: string, inputs: Readonly<Record<string, unknown>>) => ({
  content: "",
  status: "CONTINUATION" as const,
  notes: { subtask_request: { type, description: `Do the next part as a ${type}`, inputs } },
});

const SPAWNED = new TemplateRegistry();
for (const type of ["leaf", "chain"])
  SPAWNED.register({ name: type, type, description: `Do a part as a ${type}` });

const THINGS = [
  "parser",
  "login page",
  "release notes",
  "database index",
  "test suite",
  "queue",
  "public API",
  "cache",
];
const ACTS = ["Verify", "Summarise", "Translate", "Refactor", "Measure", "Document", "Explain", "Compare"];

function manyTemplates(): { readonly registry: TemplateRegistry; readonly descriptions: readonly string[] } {
  const registry = new TemplateRegistry();
  const descriptions: string[] = [];
  for (let n = 0; n < TEMPLATES; n += 1) {
    const description = `${ACTS[n % 8]} the ${THINGS[(n >> 3) % 8]} of part ${n % 997}, and say what is missing`;
    descriptions.push(description.toLowerCase());
    registry.register({
      name: `template-${n}`,
      type: `type-${n % 50}`,
      description,
      hints: [`hint-${n % 100}`],
    });
  }
  return { registry, descriptions };
}

let unseen = 0;
const requestsOf = (round: number): readonly SubtaskRequest[] =>
  Array.from({ length: REQUESTS }, (_, n) => ({
    type: `type-${n}`,
    description: `${ACTS[(n + round + 8) % 8]} what part ${unseen++} says of the ${THINGS[n % 8]}, and what is missing`,
    inputs: {},
    template_hints: [`hint-${n}`],
  }));

/** Finds the description with the most of the words, without any index. */
function scan(descriptions: readonly string[], { description }: SubtaskRequest): number {
  const words = description.toLowerCase().split(/\W+/);
  let [best, most] = [0, -1];
  for (const [i, text] of descriptions.entries()) {
    let count = 0;
    for (const word of words) if (text.includes(word)) count += 1;
    if (count > most) [best, most] = [i, count];
  }
  return best;
}
