/** Finds the model servers on this machine and their models, by asking all usual ports at once. */
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";

/** `local`: the address where a server of this kind usually listens. */
type ServerKind = { readonly name: string; readonly local?: string };

type Server = {
  readonly provider: string;
  readonly place: string;
  readonly isUsual: boolean;
  readonly models: readonly string[];
};

/**
 * A server on the same machine answers within a few ms, and a port where nothing listens refuses at once, so only
 * a server that listens and stays silent uses up this time. With 300 ms, a server on a busy machine was missed.
 */
const MAX_MS = 1_000;
/** Enough for several thousand models. The program that listens there may be no model server. */
const MAX_CHARS = 1_000_000;

export async function localServers(
  kinds: readonly ServerKind[],
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<readonly Server[]> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(MAX_MS)]);
  const asked = kinds.map(async ({ name: provider, local }) => {
    if (local === undefined) return [];
    const place = (provider === "ollama" ? ollamaPlace(env["OLLAMA_HOST"]) : undefined) ?? local;
    const models = await modelsAt(place, limit);
    return models === undefined ? [] : [{ provider, place, isUsual: place === local, models }];
  });
  return (await Promise.all(asked)).flat();
}

/** The address in Ollama's own variable; undefined if that is not an address on this machine. */
function ollamaPlace(host: string | undefined): string | undefined {
  const text = host?.trim() ?? "";
  const url = URL.parse(/^https?:\/\//.test(text) ? text : `http://${text}`);
  if (text === "" || url === null || !LOOPBACK.has(url.hostname)) return undefined;
  return `http://127.0.0.1:${url.port || OLLAMA_PORT}/v1`;
}

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "0.0.0.0"]);
const OLLAMA_PORT = 11434;

/** Undefined if no model server answers there. */
async function modelsAt(place: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
  try {
    const { data } = Object(JSON.parse(await textAt(`${place}/models`, signal))) as {
      readonly data?: unknown;
    };
    return Array.isArray(data) ? data.map((one) => Object(one).id as unknown).filter(canTalk) : undefined;
  } catch {
    return undefined; // Nothing listens there, it is too slow, or it is no model server.
  }
}

/** Uses Node's plain HTTP client: `fetch` takes longer to load than the question takes. */
async function textAt(url: string, signal: AbortSignal): Promise<string> {
  const request = get(url, { signal, agent: false });
  // After an abort `once` no longer listens, and an error without a listener would end the process.
  request.on("error", () => {});
  const [response] = (await once(request, "response", { signal })) as [IncomingMessage];
  let text = "";
  for await (const piece of response.setEncoding("utf8")) {
    text += String(piece);
    if (text.length > MAX_CHARS) throw new Error("the list of models is too long");
  }
  if (response.statusCode !== 200) throw new Error(`it answers with ${response.statusCode}`);
  return text;
}

/** Whether the name can be written on one line and the model generates text; embedding models are left out. */
const canTalk = (id: unknown): id is string =>
  typeof id === "string" && /^[\w./:@+-]{1,200}$/.test(id) && !/embed|rerank/i.test(id);
