/** Calls `skein plan` in the test's process, with or without a person at a terminal. */
import type { ExecutionPlan } from "../../src/planning/plan.ts";
import type { PlanOptions } from "../../src/surfaces/cli/commands/options.ts";
import type { Context } from "../../src/surfaces/cli/context.ts";
import type { TypedInput } from "../../src/surfaces/cli/input.ts";
import { main } from "../../src/surfaces/cli/main.ts";

export const CALCULATOR = "Create calculator with add, subtract, multiply, divide";

export type Asked = {
  readonly folder: string;
  readonly request?: string;
  readonly json?: true;
  readonly env?: Context["env"];
  /** The lines that the person types. */
  readonly typed?: readonly string[];
  readonly stdin?: string;
  readonly isTerminal?: true;
};

export async function ask(
  { folder, request = CALCULATOR, env = {}, ...more }: Asked,
  options: PlanOptions = {},
) {
  const written = { out: "", err: "" };
  const size = more.isTerminal ? { size: () => ({ columns: 80, rows: 24 }) } : {};
  const sink = (name: "out" | "err") => ({
    hasColours: false,
    write: (text: string) => {
      written[name] += text;
    },
    ...size,
  });
  const lines = [...(more.typed ?? [])];
  const input = (): TypedInput => ({
    isTerminal: more.isTerminal === true,
    line: async () => lines.shift(),
    all: async (maxBytes) => Buffer.from(more.stdin ?? "").subarray(0, maxBytes + 1),
    close: async () => {},
  });
  const args = ["plan", ...flagsOf(options), ...(more.json ? ["--json"] : []), "--", request];
  const code = await main(args, { out: sink("out"), err: sink("err") }, { env, folder, input });
  return { code, ...written };
}

export const jsonOf = async (asked: Asked, options?: PlanOptions): Promise<ExecutionPlan> =>
  JSON.parse((await ask({ ...asked, json: true }, options)).out);

/** Turns `{ maxConcurrent: "4", ask: false }` into `--max-concurrent 4 --no-ask`. */
const flagsOf = (options: PlanOptions): readonly string[] =>
  Object.entries(options).flatMap(([key, value]) => {
    const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    if (typeof value === "boolean") return [value ? `--${name}` : `--no-${name}`];
    return [value].flat().flatMap((one) => [`--${name}`, one]);
  });
