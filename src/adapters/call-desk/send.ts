/** Sends a call from a program inside of a job to the call server, which two environment variables name. */
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { messageOf } from "../../core/failure.ts";
import type { Environment } from "../../ports/project.ts";
import { fields, parseJson } from "../../text/json.ts";
import type { Call } from "./tools.ts";

export const CALL_URL = "SKEIN_CALL_URL";
export const CALL_TOKEN = "SKEIN_CALL_TOKEN";

type Sent =
  | { readonly is: "taken"; readonly message: string }
  | { readonly is: "refused"; readonly message: string }
  | { readonly is: "unreached"; readonly message: string }
  /** There is no call server: the program does not run inside a worker's turn. */
  | { readonly is: "outside" };

export async function sendCall(call: Call, environment: Environment): Promise<Sent> {
  const answer = await post("/call", textOf(call), environment);
  if (answer === undefined) return { is: "outside" };
  if ("failed" in answer) return { is: "unreached", message: answer.failed };
  const { message, error } = fields(parseJson(answer.text));
  return answer.status === 200
    ? { is: "taken", message: typeof message === "string" ? message : "" }
    : {
        is: "refused",
        message: typeof error === "string" ? error : `the run answered with ${answer.status}`,
      };
}

/** The call as JSON; empty if it is nested too deeply to be written, which the call server then refuses as no call. */
function textOf(call: Call): string {
  try {
    return JSON.stringify(call);
  } catch {
    return "";
  }
}

type Posted = { readonly status: number; readonly text: string } | { readonly failed: string };

/** Sends a request; undefined outside of a job. Uses no proxy, because the call server is on this machine. */
export async function post(
  path: string,
  body: string,
  { [CALL_URL]: url, [CALL_TOKEN]: token }: Environment,
): Promise<Posted | undefined> {
  if (!url || !token) return undefined;
  try {
    const sending = request(new URL(path, url), {
      method: "POST",
      agent: new Agent(),
      signal: AbortSignal.timeout(MAX_MS),
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    }).end(body);
    const [response] = (await once(sending, "response")) as [IncomingMessage];
    return { status: response.statusCode ?? 0, text: await text(response) };
  } catch (error) {
    return { failed: `the run could not be reached: ${messageOf(error)}` };
  }
}

/** A call is answered only once it is on disk. */
const MAX_MS = 60_000;
