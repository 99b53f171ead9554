/** Which model servers answer on this machine, and what have they? Asked all at once, and not for long. */
import { KNOWN_PROVIDERS } from "../config/known-providers.ts";
import type { Environment } from "./project.ts";

export type LocalModels = {
  readonly provider: string;
  /** The address before "/models". */
  readonly place: string;
  /** Where a server of its kind usually is. */
  readonly isUsual: boolean;
  /** By name, those that can talk; in the server's own order. */
  readonly models: readonly string[];
};

/** A server on the same machine answers within a few ms; a port where nobody listens refuses at once. */
const MAX_MS = 300;
/** Some thousand models. Whatever listens there may be no model server at all. */
const MAX_BYTES = 1_000_000;

export async function localModels(env: Environment, signal: AbortSignal): Promise<readonly LocalModels[]> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(MAX_MS)]);
  const asked = KNOWN_PROVIDERS.map(async ({ name: provider, local }) => {
    if (local === undefined) return [];
    const place = (provider === "ollama" ? ollamaPlace(env["OLLAMA_HOST"]) : undefined) ?? local;
    const models = await modelsAt(place, limit);
    return models === undefined ? [] : [{ provider, place, isUsual: place === local, models }];
  });
  return (await Promise.all(asked)).flat();
}

/** Ollama's own variable says where it listens; undefined where that is no place on this machine. */
function ollamaPlace(host: string | undefined): string | undefined {
  const text = host?.trim() ?? "";
  const url = URL.parse(/^https?:\/\//.test(text) ? text : `http://${text}`);
  if (text === "" || url === null || !LOOPBACK.has(url.hostname)) return undefined;
  return `http://127.0.0.1:${url.port || OLLAMA_PORT}/v1`;
}

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "0.0.0.0"]);
const OLLAMA_PORT = 11434;

/** Undefined if nobody there speaks as a model server does. */
async function modelsAt(place: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
  try {
    const response = await fetch(`${place}/models`, { signal, redirect: "error" });
    const { data } = Object(JSON.parse(await bounded(response))) as { readonly data?: unknown };
    if (!response.ok || !Array.isArray(data)) return undefined;
    return data.map((one) => Object(one).id as unknown).filter(canTalk);
  } catch {
    return undefined; // Nobody there, too slow, or no model server: all the same to who looks for one.
  }
}

async function bounded(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece, { stream: true });
    if (text.length > MAX_BYTES) throw new Error("the list of models is too long");
  }
  return text;
}

/** A name that can be written on one line; models that only measure texts are left out. */
const canTalk = (id: unknown): id is string =>
  typeof id === "string" && /^[\w./:@+-]{1,200}$/.test(id) && !/embed|rerank/i.test(id);
