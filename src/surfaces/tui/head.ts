/** The top of the screen (the run's state, and what needs a person) and the landing queue at its bottom. */

import { Box, Text } from "ink";
import { createElement as h, type ReactNode } from "react";
import { nameOf, type RunState } from "../../core/log/state.ts";
import { type Budget, budgetTexts } from "../../core/view/budget-left.ts";
import { delaysOf } from "../../core/view/delays.ts";
import { elapsedMs } from "../../core/view/elapsed.ts";
import {
  doneLabel,
  gateLabel,
  healthLabel,
  machinesIn,
  phaseLabel,
  type RunWord,
  runLabel,
  runningIn,
  spentLabel,
  throughputLabel,
  trainLabel,
  waitingIn,
} from "../../core/view/labels.ts";
import { type Need, needsOf } from "../../core/view/needs.ts";
import type { Standing } from "../../core/view/standing.ts";
import { machinesLabel } from "../../core/view/view-machines.ts";
import type { QuestionView } from "../../core/view/view-people.ts";
import { clockTime, duration, firstLine, harmless, plural } from "../../text/words.ts";
import { fit, width } from "../cli/columns.ts";
import type { Followed } from "./follow.ts";
import { line } from "./line.ts";

type HeadProps = { readonly followed: Followed; readonly budget: Budget };

export function Head({ followed, budget }: HeadProps): ReactNode {
  const { view, isDriven, word } = followed;
  const { counts, times, tally, is } = view;
  const isOver = times.closedAt !== undefined;
  const failed = counts.failed > 0 ? `, ${counts.failed} failed` : "";
  const busy = `at most ${plural(tally.agents.mostAtOnce, "agent")} at once, ${Math.round(tally.agents.share * 100)} % busy`;
  const colour = is === "done" ? "green" : isOver || word === "stopped" ? "red" : "cyan";
  const progress = [
    duration(elapsedMs(view, { isDriven, now: Date.now() })),
    `${doneLabel(view)}${failed}`,
    throughputLabel(view),
  ];
  const limits = budgetTexts(view, budget);
  const cost = [`cost: ${spentLabel(view.spent)}`, ...(limits.length > 0 ? limits : ["no budget"]), busy];
  const machines = machinesIn(view, word);
  const health = { ...(view.target.health === "red" && { color: "red" }) };
  return h(
    Box,
    { flexDirection: "column" },
    line(`${view.run}  ${firstLine(view.goal, 300)}`, { bold: true }),
    h(
      Text,
      { wrap: "truncate" },
      h(Text, { color: colour, bold: true }, runLabel(word)),
      ` · ${progress.filter(Boolean).join(" · ")}`,
    ),
    line(cost.join(" · ")),
    line(`target branch: ${healthLabel(view)}`, health),
    ...(machines.length > 0
      ? [line(`machines: ${harmless(machinesLabel(machines))}`, { key: "machines" })]
      : []),
  );
}

type NeedsRoom = { readonly lines: number; readonly columns: number };

/** One line for each thing that needs a person. The keys apply to the first of each kind. */
export function needTexts(view: Standing, run: RunWord, { lines, columns }: NeedsRoom): readonly string[] {
  const needs = needsOf(view, run);
  const room = Math.max(1, Math.min(MAX_NEEDS, lines));
  const shown = needs.length > room ? room - 1 : needs.length;
  const more = needs.length - shown;
  return [
    ...needs.slice(0, shown).map((need) => NEEDS_YOU + needText(need, columns - NEEDS_YOU.length)),
    ...(more > 0
      ? [`${NEEDS_YOU}${plural(more, shown > 0 ? "more thing" : "thing")} (press n to read)`]
      : []),
  ];
}

const NEEDS_YOU = "NEEDS YOU: ";

function needText(need: Need, columns: number): string {
  switch (need.is) {
    case "plan":
      return "the plan waits for your approval (press a to approve, x to decline)";
    case "gate-change": {
      const { name, flags } = need.change;
      return `${harmless(name, 60)} changes the gate or agents' instructions (press a to approve, x to decline): ${harmless(flags.join("; "))}`;
    }
    case "question":
      return questionText(need.question, columns);
    case "account": {
      const { account, reason } = need.account;
      return `the key of ${harmless(account)} was refused (press u when it is fixed): ${harmless(reason)}`;
    }
    case "setup":
      return `${harmless(need.failure.message)} (press u when it is fixed)`;
    case "machine":
      return harmless(need.text);
  }
}

/** The question comes first and is cut to make room for the key, the default (if there is room) and the time. */
function questionText({ name, text, until, default: fallback }: QuestionView, columns: number): string {
  const left = `${duration(Math.max(0, until - Date.now()))} left`;
  const says = `${fit(harmless(name), Math.max(8, Math.floor(columns / 4)))} asks: ${firstLine(text, 200)}`;
  const whole = `${says} (press r; ${fallback === undefined ? "no default" : `default: ${firstLine(fallback, 60)}`}; ${left})`;
  if (width(whole) <= columns) return whole;
  const short = ` (press r; ${left})`;
  return fit(says, Math.max(16, columns - short.length)) + short;
}
const MAX_NEEDS = 5;

/** What the run itself is waiting for. */
export const waitsOf = (view: Standing, now: number): readonly string[] =>
  delaysOf(view)
    .slice(0, MAX_WAITS)
    .map(({ what, until }) =>
      until === undefined
        ? harmless(what, 300)
        : `${harmless(what)} until ${clockTime(until)}, for another ${duration(until - now)}`,
    );
const MAX_WAITS = 2;

/** What is happening after a gate failure; empty if nothing is. */
export const phaseText = (state: RunState): string =>
  phaseLabel(state.landing.phase, (task) => harmless(nameOf(state, task), 30));

/** Two lines: the running gate, and what comes next. */
export function Landing({ followed }: { readonly followed: Followed }): ReactNode {
  const { view, seen, word } = followed;
  const gates = runningIn(view, word).filter(({ kind }) => kind === "land" || kind === "check");
  const names = (tasks: readonly { readonly name: string }[]) =>
    tasks.map(({ name }) => harmless(name, 30)).join(" + ");
  const running = gates.map((gate) => {
    const doing = gate.doing ? ` in ${firstLine(gate.doing, 60)}` : "";
    const since = gate.isUntaken ? "" : ` for ${duration(Date.now() - gate.since)}`;
    return gateLabel(gate, names(gate.tasks)) + since + doing;
  });
  const train = trainLabel(seen.state.train);
  const now = [...(gates.length === 0 ? ["no gate is running"] : running), train].filter(Boolean).join(" · ");
  const { tally } = view;
  const queue = waitingIn(view);
  const landed = `${plural(tally.gate.tasks, "task")} in ${plural(tally.gate.landings, "landing")}`;
  const next = queue.slice(0, MAX_QUEUED).map(({ name }) => harmless(name, 30));
  const more = queue.length > MAX_QUEUED ? ` and ${queue.length - MAX_QUEUED} more` : "";
  const waiting = queue.length === 0 ? "queue empty" : `queue (${queue.length}): ${next.join(", ")}${more}`;
  return h(
    Box,
    { flexDirection: "column" },
    line(`Landing: ${now}`, { color: "blue" }),
    line(`  ${landed} · ${waiting}`, { color: "blue" }),
  );
}
const MAX_QUEUED = 10;
