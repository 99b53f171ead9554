/** The state of the scripted ACP agent: its script, its place in it, and what the client offers. */
import { Failing, type Place } from "./play.ts";
import type { AcpScript } from "./script.ts";

export const script = JSON.parse(process.env["ACP_SCRIPT"] ?? '{"prompts": []}') as AcpScript;
export const session = { sessionId: "s1" };
export const state = {
  prompts: 0,
  told: "",
  /** Whether the client offers to read files. */
  isReader: false,
  isLoggedIn: script.login === undefined,
  cancel: new AbortController(),
};

export function nextPrompt(prompt: unknown): Place {
  state.cancel = new AbortController();
  if (state.prompts === 0) state.told = (prompt as readonly { readonly text?: string }[])[0]?.text ?? "";
  const place = { prompt: state.prompts, told: state.told };
  state.prompts += 1;
  return place;
}

/** Writes to standard error, where tests read it. */
export const tell = (value: unknown): void => void process.stderr.write(`${JSON.stringify(value)}\n`);

export const errorOf = (thrown: unknown) =>
  thrown instanceof Failing
    ? { code: thrown.step.code, message: thrown.step.message, data: thrown.step.data }
    : { code: -32603, message: String(thrown), data: undefined };
