/** `skein plan`: from a request to a plan on the screen, in a pipe or in a file. */
import type { ExecutionPlan } from "../../../planning/plan.ts";
import { type Act, type Context, say, usage } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { paint } from "../output.ts";
import type { PlanPage } from "../plan-text.ts";
import type { PlanOptions } from "../verbs/options.ts";
import { asJson, harmless, onPage } from "../words.ts";
import { MAX_GOAL_BYTES, readGoal, textIn } from "./goal.ts";
import type { OpenInput } from "./plan-input.ts";
import { makePlan } from "./plan-make.ts";
import type { Exit } from "./project.ts";

type Wanted = PlanOptions & { readonly request: string; readonly input?: OpenInput };

const processInput: OpenInput = async () => (await import("./plan-input.ts")).processInput();

export const plan: Act<Wanted> = async (context, { input = processInput, ...options }) => {
  const wrong = wrongOptions(context, options);
  if (wrong !== undefined) return wrong;
  const request = await readRequest(context, options.request, input);
  if ("exit" in request) return request.exit;
  const made = await makePlan(context, { ...options, request: request.text }, input);
  if ("exit" in made) return made.exit;
  notify(context, made.notices);
  if (options.out !== undefined) {
    const { writePlan } = await import("./plan-out.ts");
    const refused = await writePlan(context, made.plan, { ...options, out: options.out });
    if (refused !== undefined) return refused;
  }
  await show(context, made.plan, options);
  return EXIT.done;
};

function wrongOptions(context: Context, { request, ask, markdown, mermaid }: Wanted): ExitCode | undefined {
  const formats = [context.json && "--json", markdown && "--markdown", mermaid && "--mermaid"];
  const given = formats.filter((name) => typeof name === "string");
  if (given.length > 1) return usage(context, `${given.join(" and ")} are two forms`, "choose one of them");
  if (request === "-" && ask === true)
    return usage(
      context,
      "standard input brings the request, so that nobody can answer there",
      "name a file, or leave out --ask",
    );
  return undefined;
}

/** A sentence, a file, or what standard input brings. */
export async function readRequest(
  context: Context,
  given: string,
  input: OpenInput,
): Promise<{ readonly text: string } | Exit> {
  if (given !== "-") return readGoal(context, given, "request");
  const stream = await input();
  const bytes = await stream.all(MAX_GOAL_BYTES);
  await stream.close();
  return textIn(context, bytes, { what: "request", file: "standard input" });
}

/** Beside the plan, so that it stays one that can be read again. */
export function notify({ err, json }: Context, notices: readonly string[]): void {
  if (json) return;
  for (const text of notices)
    err.write(`${paint(err, "bad", onPage(err, `notice: ${harmless(text)}`, "  "))}\n`);
}

async function show(context: Context, made: ExecutionPlan, options: Wanted): Promise<void> {
  const { out } = context;
  if (context.json) out.write(`${asJson(made, 2)}\n`);
  else if (options.markdown)
    out.write((await import("../../../planning/render/markdown.ts")).renderMarkdown(made));
  else if (options.mermaid)
    out.write((await import("../../../planning/render/mermaid.ts")).renderMermaid(made));
  else return sayPlan(context, made, options.out === undefined ? {} : { file: options.out });
}

export async function sayPlan(
  context: Context,
  made: ExecutionPlan,
  around: Pick<PlanPage, "file" | "isAsked">,
): Promise<void> {
  const { planText } = await import("../plan-text.ts");
  const { out, command } = context;
  const columns = out.size?.().columns;
  const page = {
    hasColours: out.hasColours,
    command,
    ...(columns === undefined ? {} : { columns }),
    ...around,
  };
  for (const line of planText(made, page)) say(context, line);
}
