/** Makes a place to run Skein on a model: a repository, a state folder, and a model's server in this process. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Event } from "../../src/core/log/event.ts";
import {
  type Answerer,
  type ModelServer,
  startModelServer,
  type WireName,
} from "../support/model-server/model-server.ts";
import type { Files } from "../support/repositories.ts";
import { makePlace, type Place } from "./cli-place.ts";

export const KEY = "a-key-that-nobody-may-see-4711";

export type ModelPlace = Place & {
  readonly server: ModelServer;
  /** Options that name a `skein.yaml` outside of the repository, which says how the run reaches the server. */
  readonly settings: readonly string[];
  /** The events of a run; of the only run, if none is named. */
  events(run?: string): Promise<readonly Event[]>;
};

export type ModelPlaceOptions = {
  readonly answer: Answerer;
  readonly wire?: "openai-chat" | "anthropic";
  readonly files?: Files;
  readonly isTrusted?: true;
  /** Settings as `--set` takes them. */
  readonly sets?: Readonly<Record<string, string | number | boolean>>;
};

/** Every command of the place gets the settings through the environment, so that tests need not name them. */
export async function makeModelPlace(options: ModelPlaceOptions): Promise<ModelPlace> {
  const { wire = "openai-chat", sets = {} } = options;
  const server = await startModelServer({ answer: options.answer, keys: [KEY] });
  const place = await makePlace({
    ...(options.files && { files: options.files }),
    ...(options.isTrusted && { isTrusted: true }),
  });
  const settings = Object.entries(sets).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
  const env = { MODEL_KEY: KEY, SKEIN_AGENT: JSON.stringify(agentOf(server.url, wire)) };
  const { skein, start } = place.with({ env });
  return {
    ...place,
    server,
    settings,
    skein,
    start,
    with: ({ env: more = {}, ...where }) => place.with({ ...where, env: { ...env, ...more } }),
    events: async (run) => {
      const { out } = await skein("logs", ...(run === undefined ? [] : [run]), "--json");
      return out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Event);
    },
    [Symbol.asyncDispose]: async () => {
      await place[Symbol.asyncDispose]();
      await server.close();
    },
  };
}

export const agentOf = (url: string, wire: WireName) => ({
  kind: "model",
  provider: "tests",
  model: "scripted-1",
  baseUrl: `${url}/v1`,
  speaks: wire === "anthropic" ? "anthropic" : "openai",
  key: "MODEL_KEY",
});

/** Finds the files of a folder that contain a text. */
export async function holds(folder: string, text: string): Promise<readonly string[]> {
  const { readdir } = await import("node:fs/promises");
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    if ((await readFile(file)).includes(text)) found.push(file);
  }
  return found;
}
