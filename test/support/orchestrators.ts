/** Runs goals through the library within the test's process: a repository, and functions that plan and work. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import {
  createOrchestrator,
  type Failed,
  hasFailed,
  type OrchestratorOptions,
  type PlanFunction,
  type PlannedPart,
  type RunEvent,
  type RunHandle,
  type WorkFunction,
} from "../../src/index.ts";
import { newFolder } from "./folders.ts";
import { type Files, makeRepository, type TestRepository } from "./repositories.ts";

export const LIMIT = { timeout: 120_000 };

/** By default the scope is a file of the part's own name. */
export const part = (id: string, more: Partial<PlannedPart> = {}): PlannedPart => ({
  id,
  description: `write ${id}`,
  acceptance: `${id} is there`,
  scope: [`${id}.txt`],
  ...more,
});

export const plans =
  (...tasks: readonly PlannedPart[]): PlanFunction =>
  ({ first }) => ({ tasks: first ? tasks : [] });

/** Writes the files of the task's scope. */
export const writes: WorkFunction = async ({ spec }, { folder }) => {
  for (const file of spec.scope) await writeFile(path.join(folder, file), `${spec.key}\n`);
  return { status: "complete", summary: `wrote ${spec.key}` };
};

export type Place = AsyncDisposable & {
  readonly repository: TestRepository;
  readonly env: Readonly<Record<string, string>>;
  open(more?: Partial<OrchestratorOptions>): ReturnType<typeof createOrchestrator>;
};

export async function makePlace(files: Files = { "a.txt": "old\n" }): Promise<Place> {
  const repository = await makeRepository({ files });
  const folder = newFolder();
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, SKEIN_STATE_DIR: path.join(folder, "state") };
  const config = { gate: ["test ! -e bad.txt"], retry: { first: 0 } };
  return {
    repository,
    env,
    open: (more = {}) =>
      createOrchestrator({ repository: repository.folder, env, config, worker: writes, ...more }),
    [Symbol.asyncDispose]: () => repository[Symbol.asyncDispose](),
  };
}

export function good<T extends object>(result: T | Failed): T {
  assert.ok(!hasFailed(result), hasFailed(result) ? result.failure.message : "");
  return result;
}

export function failureOf(result: object) {
  assert.ok(hasFailed(result), JSON.stringify(result));
  return result.failure;
}

export const eventsOf = (run: RunHandle): Promise<RunEvent[]> => Array.fromAsync(run.events);
