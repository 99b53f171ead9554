/** `skein run`: starts a run from a goal or a plan, and shows it. */
import path from "node:path";
import { agentText, foundText, specText } from "../../../app/agent-words.ts";
import { beginRun, discardRun, followingPlan, prepareRun, type RunReady } from "../../../app/begin-run.ts";
import { gateWarnings } from "../../../app/inspect/gate-warnings.ts";
import { roomOfRun } from "../../../app/inspect/room.ts";
import { targetOf } from "../../../app/lost-run.ts";
import type { Parts } from "../../../app/parts.ts";
import { checkedBy, groundsOf } from "../../../app/plan-grounds.ts";
import { planAsks } from "../../../app/trust/standing.ts";
import { inspectParts } from "../../../compose/inspection.ts";
import { partsOf } from "../../../compose/parts.ts";
import { groundsParts } from "../../../compose/planning.ts";
import { type Config, type ReadConfig, toPolicy } from "../../../config/index.ts";
import type { Project } from "../../../ports/project.ts";
import { costNotices } from "../../../simulation/plan-cost.ts";
import { firstLine, harmless, plural, short } from "../../../text/words.ts";
import { canAsk } from "../acts/can-ask.ts";
import { type Followed, follow } from "../acts/follow.ts";
import { followApart } from "../acts/follow-apart.ts";
import { readGoal } from "../acts/goal.ts";
import { approve, planOf, refusePlanFirst } from "../acts/plan-run.ts";
import { type Exit, hasExit, NEVER, openHere } from "../acts/project.ts";
import { onPage } from "../columns.ts";
import { isInside } from "../config-file.ts";
import { configure } from "../configuration.ts";
import { type Act, type Context, say } from "../context.ts";
import { paint } from "../output.ts";
import { type GivenPlan, planIn, planSize } from "../planning/file.ts";
import { deliverDone } from "./deliver.ts";
import {
  type AddTo,
  addPlain,
  addRepo,
  addSettings,
  addTrusting,
  examples,
  type PlanFirst,
  type RunOptions,
} from "./options.ts";
import { notify } from "./plan.ts";

const FLEET = "let the machines of the fleet do the work (SKEIN_FLEET_URL; docs/fleet.md)";

export const addRun: AddTo = (command, perform) => {
  command.description(
    "Works on a goal: a sentence, or a file such as SPEC.md. The work starts from what is committed and lands on a " +
      "separate branch; your checkout is not touched.\n\n" +
      "A plan file (from skein plan; JSON or markdown) is run without further planning: its tasks in the order of their " +
      "dependencies, with its agents, output files and criteria.\n\n" +
      "On a terminal, the run is shown on the whole screen, as in skein watch; d leaves it running in the background. " +
      "Elsewhere, and with --plain, it prints lines.\n\n" +
      "Ctrl-C once: the landing in progress is finished, the rest is kept, and `skein resume` continues. Twice: stops " +
      "at once.",
  );
  addRepo(command, FLEET).option("--base <ref>", "the branch or commit to start from (default: HEAD)");
  addTrusting(addPlain(addSettings(command)))
    .option("--config <file>", "the configuration (default: skein.yaml at the top of the repository)")
    .option("--plan", "make a plan first, show it, and run it only if you say yes")
    .option("--yes", "with --plan: run it without asking")
    .option("--by <planner>", "with --plan: rules, or agent (default: rules)")
    .addHelpText(
      "after",
      examples(
        'skein run "add a --verbose option"  # by the agent that skein doctor finds',
        "skein run SPEC.md --model anthropic/claude-sonnet-4-5 --set budget.dollars=20",
        'skein run SPEC.md --agent "my-agent --quiet" --workers 4 --gate "npm test"',
        'skein run "rename the parser" --agent ./codemod.sh --planner none --set retry.maxFailed=1',
        "skein run plan.json  # from skein plan --out plan.json",
        'skein run "add search, filters and paging" --plan',
        "skein run SPEC.md --json | my-dashboard  # one event per line",
        "skein run SPEC.md --fleet  # by the machines that have joined: skein worker --join",
      ),
    )
    .action((goal: string, options: RunOptions & PlanFirst) =>
      perform((context) => run(context, { goal, ...options })),
    );
};

type Given = RunOptions & PlanFirst & { readonly goal: string };

const run: Act<Given> = async (context, options) => {
  const wrong = refusePlanFirst(context, options);
  if (wrong !== undefined) return wrong;
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const wanted = await wantedIn(context, project, options);
  if (hasExit(wanted)) return wanted.exit;
  const asks = wanted.plan ? await asksOfPlan(context, project, wanted.plan) : [];
  const read = await configure(context, project, { ...options, planAsks: asks });
  if (hasExit(read)) return read.exit;
  const config = wanted.plan
    ? followingPlan(read.config, wanted.plan.plan, isWorkersSaid(read))
    : read.config;
  const costs = wanted.plan ? await costNotices(wanted.plan.plan, toPolicy(config), project.runs) : [];
  if (options.plan && wanted.plan) {
    notify(context, costs);
    const declined = await approve(context, wanted.plan, options);
    if (declined !== undefined) return declined;
  }
  const notices = [...read.notices, ...(options.plan ? [] : costs)];
  const { plan: _first, ...given } = options;
  const { agreed } = read;
  return (await begin(context, project, { ...given, ...wanted, config, notices, agreed })).exit;
};

/** A plan that was just made, or a file outside the repository, is the user's own. */
async function asksOfPlan(context: Context, project: Project, { plan, from }: GivenPlan) {
  const file = from === undefined ? undefined : path.resolve(context.folder, from);
  return file !== undefined && (await isInside(file, project.located)) ? planAsks(plan, from!) : [];
}

/** A plan contains its goal; the text of any other file is the goal. */
async function wantedIn(
  context: Context,
  project: Project,
  options: Given,
): Promise<Pick<Wanted, "goal" | "plan"> | Exit> {
  const file = await planIn(context, options.goal, () => lintFacts(project));
  if (file && hasExit(file)) return file;
  if (file) return { goal: file.plan.goal, plan: file };
  const goal = await readGoal(context, options.goal);
  if (hasExit(goal) || !options.plan) return hasExit(goal) ? goal : { goal: goal.text };
  const plan = await planOf(context, goal.text, options);
  return hasExit(plan) ? plan : { goal: goal.text, plan };
}

/** Without facts about the repository, the plan is not compared with it. */
async function lintFacts({ located }: Project) {
  const grounds = await groundsOf(located.top, groundsParts, NEVER);
  return "facts" in grounds ? checkedBy(grounds) : {};
}

/** A number of workers that the user gives now replaces the plan's number. */
const isWorkersSaid = ({ origins }: ReadConfig) => /^(?:--|SKEIN_)/.test(origins["workers"] ?? "");

type Wanted = {
  readonly goal: string;
  readonly plan?: GivenPlan;
  readonly config: Config;
  readonly notices: readonly string[];
  readonly agreed?: readonly string[];
  readonly intoCheckout?: true;
  readonly plain?: true;
};

/** Starts a run, for a user's goal and for the demo's. */
export async function begin(context: Context, project: Project, wanted: Wanted): Promise<Followed> {
  const parts = partsOf(project, context.env);
  const { goal, plan, agreed, intoCheckout } = wanted;
  const config = askedAtTerminal(context, wanted);
  const request = {
    ...{ goal, config, mayFindAgent: true, ...(intoCheckout && { intoCheckout }) },
    ...{ ...(plan && { plan: plan.plan }), ...(agreed && { agreed }) },
    onReady: (ready: RunReady) =>
      announce(context, parts, { ...wanted, ...ready, notices: [...wanted.notices, ...ready.notices] }),
  };
  if (context.hasScreen && !context.json && !wanted.plain)
    return followApart(context, {
      parts,
      prepare: (signal) => prepareRun(request, parts, signal),
      folder: project.located.top,
      flags: [intoCheckout && "--into-checkout", config.fleet.enabled && "--fleet"].filter(
        (flag) => flag !== undefined && flag !== false,
      ),
      onUnbegun: discardRun,
    });
  const followed = await follow(context, {
    parts,
    config,
    start: (listeners, signal) => beginRun({ ...request, ...listeners }, parts, signal),
  });
  const exit = followed.run && (await deliverDone(context, parts, { ...followed.run, ...wanted }));
  return exit === undefined ? followed : { ...followed, exit };
}

/** Unless `onRedBase` is configured, a person at a terminal decides about a base that fails its gate. */
function askedAtTerminal(context: Context, { config, plain }: Wanted): Config {
  const isScreen = context.hasScreen === true && !context.json && !plain;
  return config.onRedBase === undefined && (isScreen || canAsk(context))
    ? { ...config, onRedBase: "ask" }
    : config;
}

async function announce(context: Context, { project, env }: Parts, ready: Wanted & RunReady): Promise<void> {
  const { home, base, gate, config, plan, why, goal } = ready;
  const { run: name } = home.record;
  const looks = inspectParts(env);
  const [warnings, room] = await Promise.all([
    gateWarnings({ ...project, config }, base.base, looks),
    roomOfRun({ ...project, config }, base.base, looks).catch(() => undefined), // Only a hint.
  ]);
  const tooMuch = room?.isTooMuch ? [room.text] : [];
  for (const text of [...(await project.located.notices()), ...ready.notices, ...warnings, ...tooMuch])
    say(context, paint(context.out, "bad", onPage(context.out, `notice: ${harmless(text)}`, "  ")));
  const from = base.baseBranch === undefined ? short(base.base) : `${base.baseBranch} (${short(base.base)})`;
  const rows = [
    ["run", name],
    ["goal", firstLine(goal)],
    ...(plan ? [["plan", planRow(plan)] as const] : []),
    ["base", from],
    ["target", targetOf(home.record)],
    ["gate", gateText(config, gate)],
    [
      "agent",
      `${plan ? specText(config.agent) : agentText(config)}${why === undefined ? "" : ` (${foundText(why, config.agent)})`}`,
    ],
    ["kept in", home.folder],
    ...(room && !room.isTooMuch ? [["disk", room.text] as const] : []),
  ] as const;
  for (const [key, text] of rows) {
    const tone = key === "gate" && gate.commands.length === 0 ? "bad" : "plain";
    say(context, paint(context.out, "quiet", key.padEnd(8)) + paint(context.out, tone, harmless(text)));
  }
  say(context);
}

function planRow({ plan, from, warnings }: GivenPlan): string {
  if (from === undefined) return `${planSize(plan)}, by ${plan.planner}`;
  const look = warnings === 0 ? "" : ` (${plural(warnings, "warning")}: skein plan check ${from})`;
  return `${planSize(plan)}, from ${from}${look}`;
}

function gateText(
  config: Config,
  { found, commands }: { readonly found: string; readonly commands: readonly object[] },
) {
  if (commands.length > 0) return found;
  if (config.gate === "none") return "switched off: landings will not be gated";
  return `none found: landings will not be gated (${found.replace(/^no gate was found: /, "")})`;
}
