/** Makes a plan for a person: reads the options, asks questions on a terminal, and collects notices. */
import { existsSync } from "node:fs";
import path from "node:path";
import { type MakePlanRequest, makePlan as makePlanOf } from "../../../app/make-plan.ts";
import { type Grounds, groundsOf } from "../../../app/plan-grounds.ts";
import type { PlannerWanted } from "../../../app/who-plans.ts";
import { groundsParts, planParts } from "../../../compose/planning.ts";
import type { ReadConfig, ReadSettings } from "../../../config/index.ts";
import { setsNothing } from "../../../config/variables.ts";
import { hasFailed } from "../../../core/result.ts";
import { AGENT_PREFIX, type ExecutionPlan } from "../../../planning/plan.ts";
import { asJson, harmless } from "../../../text/words.ts";
import type { Exit } from "../acts/project.ts";
import { stopOnSignal } from "../acts/signals.ts";
import { onPage } from "../columns.ts";
import type { PlanOptions } from "../commands/options.ts";
import { type Context, refuse, usage } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { configNamesIn } from "../files.ts";
import { sayRefused } from "../refusals.ts";
import type { PlanTrust } from "./trusted.ts";

type Made = {
  readonly plan: ExecutionPlan;
  readonly grounds: Grounds;
  readonly notices: readonly string[];
};

/** Ctrl-C while an agent is asked gives up, and leaves nothing running. */
export async function makePlan(
  context: Context,
  wanted: PlanOptions & { readonly request: string },
): Promise<Made | Exit> {
  const by = byIn(context, wanted);
  if (typeof by === "object") return by;
  const prefix = prefixIn(context, wanted);
  if (typeof prefix === "object") return prefix;
  const folder = path.resolve(context.folder, wanted.repo ?? ".");
  const grounds = await groundsFor(context, folder);
  if ("exit" in grounds) return grounds;
  const { top, data } = grounds;
  const read =
    by === "rules" && isUnconfigured(context, top, wanted) ? undefined : await readAt(context, top, wanted);
  if (read && "message" in read) return { exit: refuse(context, EXIT.configuration, read) };
  const trust = await trustFor(context, wanted, { by, top, read });
  if (trust && "exit" in trust) return trust;
  const usual = data.limits.maxConcurrent;
  const maxConcurrent = maxConcurrentOf(context, wanted.maxConcurrent, { read: trust?.read ?? read, usual });
  if (typeof maxConcurrent === "object") return maxConcurrent;
  const { request, agent, model, planner, script } = wanted;
  const isOff = planner === "none";
  const isNamed = [agent, model, isOff ? undefined : planner, script].some((one) => one !== undefined);
  const { person, consent } = peopleAt(context, wanted);
  using stack = new DisposableStack();
  const made = await makePlanOf(
    {
      ...{ request, grounds, maxConcurrent, person },
      ...(prefix !== undefined && { prefix }),
      ...(trust
        ? { ...(by && { by: "agent" as const }), read: trust.read, consent, isOff, isNamed }
        : BY_RULES),
      say: (line) => {
        if (!context.json) context.err.write(`${harmless(line)}\n`);
      },
      onAgent: () => stack.use(stopOnSignal()).signal,
    },
    planParts(folder, context.env, trust ?? NO_TRUST),
    AbortSignal.any([]),
  );
  if (hasFailed(made)) return { exit: sayRefused(context, made) };
  // A reader of JSON must not take the rules' plan on standard output for the agent's.
  if (context.json && made.byRules) context.err.write(`${asJson({ notice: made.byRules })}\n`);
  return { plan: made.plan, grounds, notices: made.notices };
}

const BY_RULES = { by: "rules" } as const;
/** The rules run nothing that a person must agree to. */
const NO_TRUST = { agrees: async () => () => false };

/** Undefined if the rules make the plan. Outside a repository there is nothing to agree to. */
async function trustFor(
  context: Context,
  wanted: PlanOptions,
  {
    by,
    top,
    read,
  }: {
    readonly by: string | undefined;
    readonly top: string | undefined;
    readonly read: ReadSettings | undefined;
  },
): Promise<PlanTrust | Exit | undefined> {
  if (by === "rules" || !read) return undefined;
  if (top === undefined) return { read, ...NO_TRUST };
  const { trustForAgent } = await import("./trusted.ts");
  return trustForAgent(context, top, wanted, read);
}

/**
 * True if the defaults apply, so that the configuration need not be read: loading its schemas takes as long as
 * everything else.
 */
const isUnconfigured = (
  { env }: Context,
  top: string | undefined,
  { config, set = [] }: PlanOptions,
): boolean =>
  config === undefined && set.length === 0 && setsNothing(env) && (!top || configNamesIn(top).length === 0);

async function readAt(context: Context, top: string | undefined, wanted: PlanOptions) {
  const { readHere } = await import("../configuration.ts");
  const located =
    top === undefined
      ? undefined
      : { top, gitDir: path.join(top, ".git"), head: "", notices: async () => [] };
  return readHere(context, located, wanted);
}

/**
 * Asks a person on a terminal, unless an option forbids it; on standard error, so that a plan can be written to a file.
 */
function peopleAt(
  context: Context,
  { ask }: PlanOptions,
): Pick<MakePlanRequest, "person"> & Pick<PlannerWanted, "consent"> {
  const { err, json } = context;
  const isTerminal = !json && err.size !== undefined;
  const keyboard = (after: string) => {
    const input = context.input();
    return {
      isTerminal: input.isTerminal,
      answer: async (question: string) => {
        err.write(`${onPage(err, harmless(question), "  ")}${after}`);
        const line = await input.line();
        if (line === undefined) err.write("\n");
        return line;
      },
      close: () => input.close(),
    };
  };
  return {
    person: () => {
      const person = (ask ?? isTerminal) ? keyboard("\n> ") : undefined;
      return ask || person?.isTerminal ? person : undefined;
    },
    consent: () => {
      const person = isTerminal && ask !== false ? keyboard("") : undefined;
      if (!person?.isTerminal) return undefined;
      const agrees = async (offer: string) =>
        /^y(?:es)?$/i.test((await person.answer(`${offer} [y/N, n: plan by rules] `))?.trim() ?? "");
      return { agrees, close: person.close };
    },
  };
}

/** Undefined: the named, configured or found agent, else the rules. */
function byIn(context: Context, { by, agent, model }: PlanOptions): "rules" | "agent" | undefined | Exit {
  const isNamed = agent !== undefined || model !== undefined;
  if (by === undefined) return undefined;
  if (by === "rules" && isNamed)
    return {
      exit: usage(context, "--by rules asks no agent", "leave out --agent and --model, or --by rules"),
    };
  if (by === "rules" || by === "agent") return by;
  return { exit: usage(context, `--by must be rules or agent, not ${harmless(by, 40)}`) };
}

/** The prefix that some tools put before agents' names. */
function prefixIn(context: Context, { agentPrefix: given }: PlanOptions): string | undefined | Exit {
  if (given === undefined || given === true) return given && AGENT_PREFIX;
  if (/^[\w.:@/-]{1,80}$/.test(given)) return given;
  return { exit: usage(context, "--agent-prefix must be a word", `--agent-prefix ${AGENT_PREFIX}`) };
}

/** More agents than anyone runs at once: a larger number is a mistake. */
const MAX_CONCURRENT = 1_000;

function maxConcurrentOf(
  context: Context,
  said: string | undefined,
  { read, usual }: { readonly read: ReadConfig | undefined; readonly usual: number },
): number | Exit {
  if (said === undefined)
    return read === undefined || read.origins["workers"] === "default" ? usual : read.config.workers;
  const number = /^\d{1,9}$/.test(said.trim()) ? Number(said) : 0;
  if (number >= 1 && number <= MAX_CONCURRENT) return number;
  const wrong = `--max-concurrent must be a whole number from 1 to ${MAX_CONCURRENT}, not ${JSON.stringify(said.slice(0, 40))}`;
  return { exit: usage(context, wrong, "--max-concurrent 8") };
}

/** The same facts for `skein plan check`. */
export async function groundsFor(context: Context, folder: string): Promise<Grounds | Exit> {
  const no = (message: string, lines: readonly string[] = [], next?: string): Exit => ({
    exit: refuse(context, EXIT.configuration, {
      kind: "configuration",
      message,
      lines,
      ...(next === undefined ? {} : { next }),
    }),
  });
  if (!existsSync(folder)) return no(`there is no folder ${folder}`);
  const grounds = await groundsOf(folder, groundsParts, AbortSignal.timeout(MAX_LOOK_MS));
  if (hasFailed(grounds)) return no(grounds.failure.message, [], grounds.failure.next);
  return "problems" in grounds
    ? no("the repository's own word lists or limits are invalid", some(grounds.problems), OWN_LISTS)
    : grounds;
}

/** A list without one part probably lacks many. */
const MAX_PROBLEMS = 8;
const some = (problems: readonly string[]): readonly string[] =>
  problems.length <= MAX_PROBLEMS
    ? problems
    : [...problems.slice(0, MAX_PROBLEMS), `and ${problems.length - MAX_PROBLEMS} more`];

const OWN_LISTS = "start from a full copy of that file in planning/ of Skein, and change it; or remove yours";

/** Looking at a repository takes milliseconds; anything longer hangs. */
const MAX_LOOK_MS = 20_000;
