/** Plays the steps of an ACP agent's script over the connection of any version of the protocol. */
import { writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { AcpScript, Step } from "./script.ts";
import { callTool } from "./tools.ts";

/** What the player needs of a connection. */
export type Client = {
  readonly update: (update: Readonly<Record<string, unknown>>) => Promise<void>;
  readonly request: (method: string, params: Readonly<Record<string, unknown>>) => Promise<unknown>;
  readonly permission: (
    call: Readonly<Record<string, unknown>>,
    options: readonly unknown[],
  ) => Promise<{ readonly outcome: { readonly outcome: string; readonly optionId?: unknown } }>;
  /** Whether the client offers to read files. */
  readonly isReader: boolean;
  /** Aborted when the client cancels the prompt. */
  readonly cancelled: AbortSignal;
};

/** Resolves with the reason why the prompt ended. `told`: the text of the first prompt. */
export async function play(script: AcpScript, place: Place, client: Client): Promise<string> {
  const prompts = script.when?.find(({ told }) => place.told.includes(told))?.prompts ?? script.prompts;
  for (const step of prompts[Math.min(place.prompt, prompts.length - 1)] ?? []) {
    await take(step, place, client);
    if (client.cancelled.aborted) return "cancelled";
  }
  return script.stop ?? "end_turn";
}

export type Place = { readonly prompt: number; readonly told: string };

export class Failing extends Error {
  readonly step: Step & { readonly do: "fail" };

  constructor(step: Step & { readonly do: "fail" }) {
    super(step.message);
    this.step = step;
  }
}

async function take(step: Step, { told: summary }: Place, client: Client): Promise<void> {
  const say = (text: string) =>
    client.update({ sessionUpdate: "agent_message_chunk", messageId: "m", content: { type: "text", text } });
  /** Gives a method's result or the code of its error as text. */
  const told = (method: string, params: Readonly<Record<string, unknown>>) =>
    client.request(method, params).then(
      (result) => JSON.stringify(result),
      (error: { readonly code?: unknown; readonly message?: unknown }) =>
        `error ${error.code}: ${error.message}`,
    );
  switch (step.do) {
    case "say":
      return say(step.text);
    case "repeat":
      return say(JSON.stringify({ status: "complete", summary }));
    case "write":
      if (step.by === "itself") return writeFileSync(step.path, step.text);
      return say(`${await told("fs/write_text_file", { path: step.path, content: step.text })}\n`);
    case "read": {
      const { line, limit, path } = step;
      return say(
        `${await told("fs/read_text_file", { path, ...(line && { line }), ...(limit && { limit }) })}\n`,
      );
    }
    case "create": {
      const { path, text } = step;
      const before = client.isReader ? await told("fs/read_text_file", { path }) : "";
      if (before.startsWith("error")) return say(`${before}\n`);
      return say(`${await told("fs/write_text_file", { path, content: text })}\n`);
    }
    case "ask": {
      const { outcome } = await client.permission({ toolCallId: "c", ...step.call }, step.options ?? OPTIONS);
      return say(`${outcome.outcome === "selected" ? String(outcome.optionId) : outcome.outcome}\n`);
    }
    case "tool":
      return say(`${await callTool(step.name, step.input)}\n`);
    case "call":
      return say(`${await told(step.method, {})}\n`);
    case "update":
      return client.update(step.update);
    case "flood":
      for (let n = 0; n < step.updates; n += 1) {
        await client.update({
          sessionUpdate: "agent_thought_chunk",
          messageId: "t",
          content: { type: "text", text: `${n} ${"x".repeat(1_000)}\n` },
        });
      }
      return;
    case "babble":
      return void process.stdout.write(step.text);
    case "log":
      return void process.stderr.write(step.text);
    case "fail":
      throw new Failing(step);
    case "exit":
      return process.exit(step.code);
    case "die":
      return void process.kill(process.pid, "SIGKILL");
    case "hang":
      // Waits with a timer, because a process without pending work would exit.
      return wait(3_600_000, undefined, step.isDeaf ? {} : { signal: client.cancelled }).catch(() => {});
  }
}

const OPTIONS = [
  { optionId: "yes", name: "Allow", kind: "allow_once" },
  { optionId: "always", name: "Always", kind: "allow_always" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
];
