/** How does a test ask for `skein plan`, in its own process, with or without a person at a terminal? */
import type { ExecutionPlan } from "../../src/planning/plan.ts";
import { plan } from "../../src/surfaces/cli/acts/plan.ts";
import type { Input } from "../../src/surfaces/cli/acts/plan-input.ts";
import type { Context } from "../../src/surfaces/cli/context.ts";
import type { PlanOptions } from "../../src/surfaces/cli/verbs/options.ts";

export const CALCULATOR = "Create calculator with add, subtract, multiply, divide";

export type Asked = {
  readonly folder: string;
  readonly request?: string;
  readonly json?: true;
  readonly env?: Context["env"];
  /** What is typed, line by line. */
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
  const input = (): Input => ({
    isTerminal: more.isTerminal === true,
    line: async () => lines.shift(),
    all: async (maxBytes) => Buffer.from(more.stdin ?? "").subarray(0, maxBytes + 1),
    close: async () => {},
  });
  const context: Context = {
    out: sink("out"),
    err: sink("err"),
    json: more.json === true,
    env,
    folder,
    command: "skein",
    now: () => 0,
  };
  const code = await plan(context, { ...options, request, input });
  return { code, ...written };
}

export const jsonOf = async (asked: Asked, options?: PlanOptions): Promise<ExecutionPlan> =>
  JSON.parse((await ask({ ...asked, json: true }, options)).out);
