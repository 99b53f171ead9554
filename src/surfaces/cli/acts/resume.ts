/** `skein resume`: which run goes on, and may it? */
import { type Project, tidyRun } from "../../../compose.ts";
import { fromSettings } from "../../../config/index.ts";
import { type RunView, viewOf } from "../../../core/view.ts";
import { undoneText } from "../../../core/view-reasons.ts";
import { type Act, type Context, refuse, say, usage, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { paint } from "../output.ts";
import type { ResumeOptions } from "../verbs/options.ts";
import { firstLine, harmless, plural } from "../words.ts";
import { readyAgents } from "./agents.ts";
import { reconfigure } from "./configuration.ts";
import { deliverDone, refuseDelivery } from "./deliver.ts";
import { type Bring, bringOf } from "./deliver-command.ts";
import { driveRun } from "./drive-run.ts";
import { mendedSetup } from "./mended-setup.ts";
import {
  type Exit,
  hasExit,
  movedHere,
  openHere,
  openSeen,
  runsWhere,
  type SeenRun,
  underWay,
} from "./project.ts";
import { tellRun } from "./tell.ts";

export const resume: Act<ResumeOptions> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const found = await pick(context, project, options.run);
  if (hasExit(found)) return found.exit;
  const { home, seen } = found;
  const { record } = home;
  const view = viewOf(seen);
  if (seen.state.closed) {
    const kept = fromSettings(record.settings);
    const config = "config" in kept ? kept.config : undefined;
    // It may have been killed between its last event and its last broom, or its delivery.
    if (config) await tidyRun(project, home, { config, env: context.env }).catch(() => {}); // What is left stays for the next.
    if (config?.deliver && view.is === "done")
      return deliverDone(context, project, home, { ...options, config });
    return sayClosed(context, view, await bringOf(project, record, view));
  }
  const owner = await home.owner();
  if (owner && seen.state.paused) return tellRun(context, home, { type: "resume" });
  if (owner) return refuse(context, EXIT.notAllDone, underWay(record.run, owner.pid));
  const { hasFailed } = seen.state.setup;
  const mended = hasFailed
    ? await mendedSetup(context, project, record.settings)
    : { ...record, notices: [] };
  if (hasExit(mended)) return mended.exit;
  const changed = reconfigure(context, mended.settings, options);
  if (hasExit(changed)) return changed.exit;
  const ready = await readyAgents(context, project, changed);
  if (hasExit(ready)) return ready.exit;
  const { config, notices } = ready;
  const { baseBranch } = record;
  const wanted = { ...options, config, ...(baseBranch === undefined ? {} : { baseBranch }) };
  const undeliverable = await refuseDelivery(context, project, wanted);
  if (undeliverable !== undefined) return undeliverable;
  const done = `${view.counts.done} of ${plural(view.counts.total, "task")} done`;
  say(context, `going on with run ${record.run}, ${done}: ${firstLine(record.goal)}\n`);
  for (const notice of mended.notices) say(context, harmless(notice));
  for (const notice of notices) say(context, paint(context.out, "bad", `notice: ${harmless(notice)}`));
  const driven = await driveRun(context, project, home, config);
  return driven.exit === EXIT.done && config.deliver
    ? deliverDone(context, project, home, { ...options, config })
    : driven.exit;
};

async function pick(context: Context, project: Project, run?: string): Promise<SeenRun | Exit> {
  if (run !== undefined) return openSeen(context, project, run);
  const open = await runsWhere(context, project, ({ seen }) => seen.state.closed === undefined);
  const idle: SeenRun[] = [];
  for (const one of open) if ((await one.home.owner()) === undefined) idle.push(one);
  const [newest, ...others] = idle;
  const paused = open.filter(({ seen }) => seen.state.paused);
  if (newest === undefined && paused.length === 1) return paused[0]!; // Its pause is what is meant to end.
  if (newest === undefined) return { exit: await nothingOpen(context, project, open) };
  if (others.length > 0) {
    const names = others
      .slice(0, 5)
      .map(({ home }) => home.record.run)
      .join(", ");
    say(context, `${plural(idle.length, "run")} can go on; this is the newest. Others: ${names}`);
  }
  return newest;
}

/** Every open run is being driven already, or there is none. */
async function nothingOpen(context: Context, project: Project, going: readonly SeenRun[]): Promise<ExitCode> {
  const home = going[0]?.home;
  const owner = await home?.owner();
  if (home && owner) return refuse(context, EXIT.notAllDone, underWay(home.record.run, owner.pid));
  const moved = going.length === 0 ? await movedHere(project) : undefined;
  if (moved) return refuse(context, EXIT.configuration, moved);
  return usage(
    context,
    "there is no run that could go on",
    "`skein status` lists the runs; `skein run` starts one",
  );
}

/** Nothing to go on with is no failure if everything was done. */
function sayClosed(context: Context, view: RunView, bring: Bring): ExitCode {
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
  if (is !== "done") say(context, `next: skein show ${run}, then skein run with what is left`);
  else if (bring.is !== "delivered")
    say(context, `next: ${bring.is === "ready" ? bring.command : `skein show ${run}`}`);
  return code;
}

const MAX_LEFT = 20;
