/** Sends a call from a program inside of a job, by the two variables that it was given. */
import { Agent, request } from "node:http";
import { messageOf } from "../../core/failure.ts";
import type { Call } from "./tools.ts";

export const CALL_URL = "SKEIN_CALL_URL";
export const CALL_TOKEN = "SKEIN_CALL_TOKEN";

type Environment = Readonly<Record<string, string | undefined>>;

type Sent =
  | { readonly is: "taken"; readonly message: string }
  /** The desk refused it. */
  | { readonly is: "refused"; readonly message: string }
  | { readonly is: "unreached"; readonly message: string }
  /** There is no desk: not inside a worker's turn. */
  | { readonly is: "outside" };

export async function sendCall(call: Call, environment: Environment): Promise<Sent> {
  const answer = await post("/call", textOf(call), environment);
  if (answer === undefined) return { is: "outside" };
  if ("failed" in answer) return { is: "unreached", message: answer.failed };
  const { message, error } = wordsIn(answer.text);
  return answer.status === 200
    ? { is: "taken", message: message ?? "" }
    : { is: "refused", message: error ?? `the run answered with ${answer.status}` };
}

/** Too deep to be written: the desk then reports that it is no call. */
function textOf(call: Call): string {
  try {
    return JSON.stringify(call);
  } catch {
    return "";
  }
}

type Posted =
  | { readonly status: number; readonly text: string; readonly type: string }
  | { readonly failed: string };

/** Undefined outside of a job. Never through a proxy, because the desk is on this machine. */
export function post(
  path: string,
  body: string,
  environment: Environment,
  headers: Readonly<Record<string, string>> = {},
): Promise<Posted | undefined> {
  const { [CALL_URL]: url, [CALL_TOKEN]: token } = environment;
  if (!url || !token) return Promise.resolve(undefined);
  const { promise, resolve } = Promise.withResolvers<Posted>();
  const failed = (error: unknown) => resolve({ failed: `the run could not be reached: ${messageOf(error)}` });
  try {
    const sending = request(new URL(path, url), {
      method: "POST",
      agent: new Agent(),
      timeout: MAX_MS,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    });
    sending.on("error", failed);
    sending.on("timeout", () => sending.destroy(new Error("it does not answer")));
    sending.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      response.on("error", failed);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text, type: response.headers["content-type"] ?? "" }),
      );
    });
    sending.end(body);
  } catch (error) {
    failed(error); // Not an address.
  }
  return promise;
}

/** A call is answered once it is on disk. */
const MAX_MS = 60_000;

function wordsIn(text: string): { readonly message?: string; readonly error?: string } {
  try {
    const { message, error } = Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
    return {
      ...(typeof message === "string" && { message }),
      ...(typeof error === "string" && { error }),
    };
  } catch {
    return {}; // Not the desk.
  }
}
