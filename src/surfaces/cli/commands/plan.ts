/** `skein plan`: makes a plan of a request, and prints it or writes it to a file. */

import path from "node:path";
import type { Command } from "commander";
import type { ExecutionPlan } from "../../../planning/plan.ts";
import { asJson, harmless } from "../../../text/words.ts";
import { MAX_GOAL_BYTES, readGoal, textIn } from "../acts/goal.ts";
import type { Exit } from "../acts/project.ts";
import { onPage } from "../columns.ts";
import { type Act, type Context, refuse, say, usage } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { lookAt, readBounded, writeNew } from "../files.ts";
import { paint } from "../output.ts";
import { makePlan } from "../planning/make.ts";
import type { PlanPage } from "../render/plan.ts";
import {
  type AddTo,
  addRepo,
  addTrusting,
  collect,
  examples,
  type PlanOptions,
  type RepoOption,
} from "./options.ts";

export const addPlan: AddTo = (command, perform) => {
  command.description(
    'Turns a request into a plan: a sentence, a file, or "-" for standard input. The planner is the named or configured ' +
      "agent, or an installed one if you agree; otherwise rules make the plan, at once and without a model. " +
      "Starts no work: give the plan file to skein run.",
  );
  addTrusting(addRepo(command))
    .option("--markdown", "print it as markdown")
    .option("--out <file>", "also write it to a file: JSON, or markdown if the name ends in .md")
    .option("--force", "with --out: overwrite a file even if it is not a plan")
    .option("--ask", "ask about what is unclear (default: on a terminal)")
    .option("--no-ask", "use the default answers, and state them in the plan");
  addMaking(command).addHelpText(
    "after",
    examples(
      'skein plan "add a search with filters, sorting and paging"',
      "skein plan SPEC.md --out plan.json  # edit it, then: skein plan check plan.json && skein run plan.json",
      'skein plan "review all files in src" --max-concurrent 4 --markdown',
      'skein plan "migrate to PostgreSQL" --model anthropic/claude-sonnet-4-5',
      "git log -1 --format=%B | skein plan - --json",
    ),
  );
  command.action((request: string, options: PlanOptions) =>
    perform((context) => plan(context, { ...options, request })),
  );
  addCheck(command, perform);
};

/** Options for making a plan, which `skein run --plan` has too. */
const addMaking = (command: Command): Command =>
  command
    .option(
      "--max-concurrent <n>",
      "agents at once (default: workers of skein.yaml, CLAUDE_MAX_CONCURRENT, 8)",
    )
    .option("--by <planner>", "rules (offline) or agent (default: the named or configured agent, else rules)")
    .option("--agent <agent>", "the agent to ask: a name, provider/model, a command, acp:command")
    .option("--model <provider/model>", "the model of the built-in agent to ask")
    .option("--agent-prefix [prefix]", 'prefix for agent names (default: "workflow-orchestrator:")')
    .option("--config <file>", "the configuration (default: skein.yaml at the top of the repository)")
    .option("--set <key=value>", "set any key of skein.yaml; may be repeated", collect);

function addCheck(plan: Command, perform: Parameters<AddTo>[1]): void {
  const check = plan.command("check <file>");
  addRepo(check)
    // Options of `skein plan` do not apply here; --json and --version belong to the program.
    .configureHelp({ ...check.configureHelp(), visibleGlobalOptions: () => [...plan.parent!.options] })
    .summary("list the problems of a plan file, with line numbers")
    .description(
      'Reads a plan file (JSON or markdown; "-" for standard input) and lists every problem with its place and line. ' +
        "Exit code 0: it can be run; 1: it cannot.",
    )
    .addHelpText("after", examples("skein plan check plan.json", "skein plan check plan.md --json"))
    .action((file: string, _options: RepoOption, command: Command) =>
      perform(async (context) =>
        (await import("./plan-check.ts")).planCheck(context, {
          ...command.optsWithGlobals<RepoOption>(), // `skein plan` takes its own options, wherever they stand.
          file,
        }),
      ),
    );
}

type Wanted = PlanOptions & { readonly request: string };

const plan: Act<Wanted> = async (context, options) => {
  const wrong = wrongOptions(context, options);
  if (wrong !== undefined) return wrong;
  const request = await readRequest(context, options.request);
  if ("exit" in request) return request.exit;
  const made = await makePlan(context, { ...options, request: request.text });
  if ("exit" in made) return made.exit;
  notify(context, made.notices);
  if (options.out !== undefined) {
    const refused = await writePlan(context, made.plan, { ...options, out: options.out });
    if (refused !== undefined) return refused;
  }
  await show(context, made.plan, options);
  return EXIT.done;
};

function wrongOptions(context: Context, { request, ask, markdown }: Wanted): ExitCode | undefined {
  if (context.json && markdown)
    return usage(context, "--json and --markdown exclude each other", "choose one of them");
  if (request === "-" && ask === true)
    return usage(
      context,
      "standard input is the request, so questions cannot be answered there",
      "name a file, or leave out --ask",
    );
  return undefined;
}

/** The request: a sentence, a file, or standard input. */
async function readRequest(context: Context, given: string): Promise<{ readonly text: string } | Exit> {
  if (given !== "-") return readGoal(context, given, "request");
  const stream = context.input();
  const bytes = await stream.all(MAX_GOAL_BYTES);
  await stream.close();
  return textIn(context, bytes, { what: "request", file: "standard input" });
}

/** Printed to standard error, so that the plan on standard output can be read again. */
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
  else return sayPlan(context, made, options.out === undefined ? {} : { file: options.out });
}

export async function sayPlan(
  context: Context,
  made: ExecutionPlan,
  around: Pick<PlanPage, "file" | "isAsked">,
): Promise<void> {
  const { planText } = await import("../render/plan.ts");
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

/** The JSON as in a plan file, for people to edit. */
export const jsonText = (plan: ExecutionPlan): string => `${JSON.stringify(plan, undefined, 2)}\n`;

/** Undefined once it is written. Replaces an older plan; anything else only with `force`. */
async function writePlan(
  context: Context,
  plan: ExecutionPlan,
  { out, force }: { readonly out: string; readonly force?: true },
): Promise<ExitCode | undefined> {
  const file = path.resolve(context.folder, out);
  const { kindOf } = await import("../planning/file.ts"); // Reads plan files, so it is loaded only for writing one.
  const kind = kindOf(out) ?? "json";
  const text = kind === "json" ? jsonText(plan) : (await markdown()).renderMarkdown(plan);
  const mayReplace = force === true || (await isPlan(file, kind));
  const written = await writeNew(file, text, mayReplace);
  if (!("why" in written)) return agreeToPlan(context, plan, file);
  const no = (message: string, next: string) =>
    refuse(context, EXIT.notAllDone, { kind: "configuration", message, next });
  return written.isThere
    ? no(`${out} exists and is not a plan; nothing was written`, "choose another name, or add --force")
    : no(`${out} cannot be written: ${written.why}`, "check that the folder exists and is writable");
}

/** Skein wrote the plan itself, so the commands in it now count as agreed to, if the file is in a repository. */
async function agreeToPlan(
  context: Context,
  plan: ExecutionPlan,
  file: string,
): Promise<ExitCode | undefined> {
  if (plan.tasks.every(({ success_criterion: run }) => run === undefined)) return undefined;
  const { agreeToWritten } = await import("../trust.ts");
  const { planAsks } = await import("../../../app/trust/standing.ts");
  return agreeToWritten(context, path.dirname(file), planAsks(plan, path.basename(file)), "plan --out");
}

const markdown = () => import("../../../planning/render/markdown.ts");

/** A link does not count as a plan, wherever it leads. */
async function isPlan(file: string, kind: "json" | "markdown"): Promise<boolean> {
  if (!(await lookAt(file))?.isFile()) return false;
  const { MAX_PLAN_BYTES, readAs } = await import("../planning/file.ts");
  const text = await readBounded(file, MAX_PLAN_BYTES).catch(() => "");
  return (await readAs(kind, text, {})).is === "plan";
}
