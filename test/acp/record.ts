/** Keeps the results of the last trial of each agent in last-results.json: facts, and nothing about the machine. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Installed } from "./install.ts";
import type { Recipe } from "./recipes.ts";
import { TASKS, type Trial } from "./trial.ts";

export type Recorded = {
  readonly agent: string;
  readonly date: string;
  /** The packages, separated by spaces. */
  readonly packages: string;
  readonly exitCode: number | null;
  readonly landed: number;
  readonly tasks: number;
  readonly megabytes: number;
  readonly runMs: number;
  /** The duration of the slowest turn. */
  readonly turnMs: number;
  readonly tokens: { readonly counted: number; readonly said: number };
};

const FILE = fileURLToPath(new URL("./last-results.json", import.meta.url));

export const lastResults = (): readonly Recorded[] => JSON.parse(readFileSync(FILE, "utf8"));

/** Replaces the earlier result of the same agent. */
export function record({ name, packages }: Recipe, { megabytes }: Installed, trial: Trial): void {
  const { exitCode, landed, runMs, turnsMs, tokens } = trial;
  const result: Recorded = {
    ...{ agent: name, date: new Date().toISOString().slice(0, 10), packages: packages.join(" ") },
    ...{
      exitCode,
      landed,
      tasks: TASKS.length,
      megabytes,
      runMs,
      turnMs: Math.max(0, ...Object.values(turnsMs)),
      tokens,
    },
  };
  const others = lastResults().filter(({ agent }) => agent !== name);
  const all = [...others, result].sort((a, b) => a.agent.localeCompare(b.agent));
  writeFileSync(FILE, `${JSON.stringify(all, null, 2)}\n`);
}

/** The table of results as docs/agents.md shows it. */
export const resultsTable = (results: readonly Recorded[]): string =>
  [
    "| agent | packages | tried on | landed | whole run | slowest turn |",
    "|---|---|---|---|---|---|",
    ...results.map(({ agent, packages, date, landed, tasks, runMs, turnMs }) => {
      const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`;
      const what = packages.replaceAll(/\S+/g, "`$&`");
      return `| \`${agent}\` | ${what} | ${date} | ${landed} of ${tasks} | ${seconds(runMs)} | ${seconds(turnMs)} |`;
    }),
  ].join("\n");
