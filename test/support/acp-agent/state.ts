/** What do both versions of the scripted agent share? Its script, and where it is in it. */
import { Failing } from "./play.ts";
import type { AcpScript } from "./script.ts";

export const script = JSON.parse(process.env["ACP_SCRIPT"] ?? '{"prompts": []}') as AcpScript;
export const session = { sessionId: "s1" };
export const state = { prompts: 0, isLoggedIn: script.login === undefined, cancel: new AbortController() };

/** On standard error, where tests find it. */
export const tell = (value: unknown): void => void process.stderr.write(`${JSON.stringify(value)}\n`);

export const errorOf = (thrown: unknown) =>
  thrown instanceof Failing
    ? { code: thrown.step.code, message: thrown.step.message, data: thrown.step.data }
    : { code: -32603, message: String(thrown), data: undefined };
