/** `skein resume`: chooses a run and continues it, with changed settings. */
import { type Deliverable, deliverableOf } from "../../../app/deliverable.ts";
import type { RunListeners } from "../../../app/follow-run.ts";
import type { Parts } from "../../../app/parts.ts";
import { misconfigured, misused } from "../../../app/refused.ts";
import { prepareResume, type ResumeRequest, type RunResumed, resumeRun } from "../../../app/resume-run.ts";
import { type SeenRun, underWay } from "../../../app/see-run.ts";
import { runToResume } from "../../../app/which-run.ts";
import { partsOf } from "../../../compose/parts.ts";
import type { Config } from "../../../config/index.ts";
import { withoutSettings } from "../../../config/variables.ts";
import { hasFailed } from "../../../core/result.ts";
import { type RunView, viewOf } from "../../../core/view/view.ts";
import { undoneText } from "../../../core/view/view-reasons.ts";
import type { Project } from "../../../ports/project.ts";
import { firstLine, harmless, plural } from "../../../text/words.ts";
import { follow } from "../acts/follow.ts";
import { followApart } from "../acts/follow-apart.ts";
import { type Exit, hasExit, openHere, orExit } from "../acts/project.ts";
import { readHere, reconfigured } from "../configuration.ts";
import { type Act, type Context, say, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { paint } from "../output.ts";
import { lineOf } from "../trust.ts";
import { deliverDone } from "./deliver.ts";
import { type AddTo, addPlain, addRepo, addSettings, examples, type ResumeOptions } from "./options.ts";
import { sayTold } from "./steering.ts";

export const addResume: AddTo = (command, perform) => {
  command.description(
    "Continues a run that was stopped, paused or killed, by default the newest open one. Work that was recorded is not " +
      "repeated. The run keeps the configuration that it was started with; flags and --set change it from now on. If " +
      "the run stopped because its gate or its workspaces could not be set up, their settings are read from " +
      "skein.yaml again.",
  );
  addPlain(addSettings(addRepo(command)))
    .addHelpText(
      "after",
      examples("skein resume", "skein resume 1115-k7qd --workers 2", "skein resume --plain"),
    )
    .action((run: string | undefined, options: ResumeOptions) =>
      perform((context) => resume(context, run === undefined ? options : { ...options, run })),
    );
};

const resume: Act<ResumeOptions> = async (context, options) => {
  const project = await openHere(context, { ...options, isBegun: true });
  if (hasExit(project)) return project.exit;
  const found = await pick(context, project, options.run);
  if (hasExit(found)) return found.exit;
  const parts = partsOf(project, context.env);
  const { home, seen } = found;
  const canGoOn = seen.state.closed === undefined && (await home.owner()) === undefined;
  if (canGoOn && context.hasScreen && !context.json && !options.plain)
    return resumeApart(context, parts, { ...found, ...options });
  let ended: Exclude<RunResumed, { readonly is: "live" }> | undefined;
  const followed = await follow(context, {
    parts,
    config: { planner: Object(home.record.settings).planner as Config["planner"] },
    start: async (listeners, signal) => {
      const resumed = await resumeRun(
        requestOf(context, project, { ...found, ...options, ...listeners }),
        parts,
        signal,
      );
      if (hasFailed(resumed)) return resumed;
      if (resumed.is === "live") return { ...resumed, home };
      ended = resumed;
      return undefined;
    },
  });
  if (ended?.is === "paused") return sayTold(context, { ...found, command: { type: "resume" } }, parts);
  const config = ended?.config ?? followed.config;
  const delivered = await deliverDone(context, parts, { home, seen, config, ...options });
  if (delivered !== undefined) return delivered;
  const view = viewOf(seen);
  return ended ? sayClosed(context, view, await deliverableOf(home.record, view, parts.git)) : followed.exit;
};

type Given = SeenRun & ResumeOptions & RunListeners;

/** Shows the run on the whole terminal, which the person can leave. */
async function resumeApart(context: Context, parts: Parts, given: Given): Promise<ExitCode> {
  const { home, seen: _seen, run: _run, ...options } = given;
  const followed = await followApart(context, {
    parts,
    prepare: async (signal) => {
      const ready = await prepareResume(requestOf(context, parts.project, given), parts, signal);
      if (hasFailed(ready)) return ready;
      if (ready.is === "ready") return { ...ready, home };
      // The run was open and not driven when it was chosen a moment ago.
      const owner = await home.owner();
      const { run } = home.record;
      return owner ? underWay(run, owner) : misused(`run ${run} is closed`, `skein show ${run}`);
    },
    folder: context.folder,
    flags: flagsOf(options),
  });
  return followed.exit;
}

/** The options as typed, each in one word, because a value may begin with a dash. */
const flagsOf = (options: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(options).flatMap(([key, value]) => {
    const name = `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return [value].flat().map((one) => (one === true ? name : `${name}=${one}`));
  });

/** Options given now change the run's record; settings that were fixed in skein.yaml are read there. */
const requestOf = (context: Context, project: Project, given: Given): ResumeRequest => ({
  ...given,
  reconfigure: (settings) => reconfigured(context, settings, given),
  configNow: async () => {
    const read = await readHere({ ...context, env: withoutSettings(context.env) }, project.located, {});
    if ("message" in read) return misconfigured(read.message, read.next, read.lines);
    for (const ask of read.withheld)
      say(
        context,
        paint(context.out, "bad", `notice: not taken, nobody has agreed to it: ${harmless(lineOf(ask))}`),
      );
    return read;
  },
  onReady: ({ fixed, notices }) => {
    const { run, goal } = given.home.record;
    const { counts } = viewOf(given.seen);
    const done = `${counts.done} of ${plural(counts.total, "task")} done`;
    say(context, `resuming run ${run}, ${done}: ${firstLine(goal)}\n`);
    for (const notice of fixed) say(context, harmless(notice));
    for (const notice of notices) say(context, paint(context.out, "bad", `notice: ${harmless(notice)}`));
  },
});

async function pick(context: Context, project: Project, run?: string): Promise<SeenRun | Exit> {
  const found = await orExit(context, runToResume(run, project));
  if (hasExit(found)) return found;
  const { others, ...meant } = found;
  if (others.length > 0) {
    const names = others.slice(0, 5).join(", ");
    const count = plural(others.length + 1, "run");
    say(context, `${count} can be resumed; resuming the newest. Others: ${names}`);
  }
  return meant;
}

/** Resuming a closed run is not a failure if everything was done. */
function sayClosed(context: Context, view: RunView, bring: Deliverable): ExitCode {
  const { run, is, counts, givenUp } = view;
  const left = [...view.undone.map(undoneText), ...view.left];
  const code = is === "done" ? EXIT.done : EXIT.notAllDone;
  if (context.json) {
    writeJson(context, { run, closed: is, left, ...(givenUp.length > 0 && { givenUp }) });
    return code;
  }
  say(context, `run ${run} is closed: ${is}, ${counts.done} of ${plural(counts.total, "task")} done`);
  for (const thing of left.slice(0, MAX_LEFT)) say(context, `  left: ${firstLine(thing, 300)}`);
  if (left.length > MAX_LEFT) say(context, `  and ${left.length - MAX_LEFT} more`);
  if (bring.is === "delivered")
    say(context, `${is === "done" ? "" : "what landed was "}delivered to ${bring.branch}`);
  if (is !== "done" && bring.is === "ready") say(context, `what landed can be delivered: ${bring.command}`);
  if (bring.is === "red") say(context, `the gate fails on the target: ${bring.hint}`);
  if (is !== "done") say(context, `next: skein show ${run}, then skein run with what is left`);
  else if (bring.is !== "delivered")
    say(context, `next: ${bring.is === "ready" ? bring.command : `skein show ${run}`}`);
  return code;
}

const MAX_LEFT = 20;
