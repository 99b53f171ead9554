/** What needs a person, in full: a question with its default and its time, a plan with the files of its tasks. */
import { Box } from "ink";
import { createElement as h, type ReactNode } from "react";
import { taskOf } from "../../core/log/state.ts";
import type { TaskId } from "../../core/task.ts";
import { type Need, needsOf } from "../../core/view/needs.ts";
import { scopeLabel } from "../../core/view/task-facts.ts";
import type { QuestionView } from "../../core/view/view-people.ts";
import { duration, harmless, harmlessLines, plural } from "../../text/words.ts";
import { wrapped } from "../cli/columns.ts";
import type { Followed } from "./follow.ts";
import { line } from "./line.ts";

type NeedsProps = {
  readonly followed: Followed;
  /** Which of them, the first being 0. */
  readonly need: number;
  readonly scrolled: number;
  readonly lines: number;
  readonly columns: number;
};

export function NeedsView({ followed, need: at, scrolled, lines, columns }: NeedsProps): ReactNode {
  const needs = needsOf(followed.view, followed.word);
  const need = needs[Math.min(at, needs.length - 1)];
  if (!need) return line("Nothing needs you.");
  const which = needs.length > 1 ? `, ${Math.min(at, needs.length - 1) + 1} of ${needs.length}: n next` : "";
  const all = onScreen(needLines(need, followed), columns);
  const room = Math.max(1, lines - 1);
  const first = Math.max(0, Math.min(scrolled, all.length - room));
  return h(
    Box,
    { flexDirection: "column" },
    line(`Needs you${which}${all.length > room ? "  (Up/Down scroll)" : ""}`, { bold: true }),
    ...all.slice(first, first + room).map((text, i) => line(text, { key: `${i}` })),
  );
}

/** While it is answered, the whole question stands above the answer. */
export function QuestionAbove({
  question,
  lines,
  columns,
}: {
  readonly question: QuestionView;
  readonly lines: number;
  readonly columns: number;
}): ReactNode {
  const all = onScreen(questionLines(question), columns);
  // The end has the question proper more often than the beginning.
  const shown = all.length > lines ? ["…", ...all.slice(-Math.max(1, lines - 1))] : all;
  return h(Box, { flexDirection: "column" }, ...shown.map((text, i) => line(text, { key: `${i}` })));
}

const onScreen = (texts: readonly string[], columns: number): readonly string[] =>
  texts.flatMap((text) => wrapped(text, Math.max(10, columns - 1), "  ").split("\n"));

function needLines(need: Need, followed: Followed): readonly string[] {
  switch (need.is) {
    case "plan":
      return planLines(followed);
    case "gate-change": {
      const { name, flags } = need.change;
      return [
        `${harmless(name, 100)} changes the gate, or files that steer agents. It lands only if you approve:`,
        ...flags.map((flag) => `  ${harmless(flag)}`),
        "a approves, x declines with a reason",
      ];
    }
    case "question":
      return [...questionLines(need.question), "", "r answers"];
    case "account": {
      const { account, reason, next } = need.account;
      return [
        `The key of ${harmless(account)} was refused: ${harmless(reason)}`,
        ...(next === undefined ? [] : [`try: ${harmless(next)}`]),
        "Press u when it is fixed.",
      ];
    }
    case "setup": {
      const { message, next, detail } = need.failure;
      const said = [
        message,
        ...(next === undefined ? [] : [`try: ${next}`]),
        ...(detail ? ["", detail] : []),
      ];
      return [...harmlessLines(said.join("\n"), MAX_LINES), "", "Press u when it is fixed."];
    }
    case "machine":
      return [harmless(need.text)];
  }
}

const MAX_LINES = 500;
/** Of one line: all of a question is shown, also where it is one long paragraph. */
const MAX_CHARS = 20_000;

function questionLines({ name, text, until, ...rest }: QuestionView): readonly string[] {
  const left = duration(Math.max(0, until - Date.now()));
  return [
    `${harmless(name, 100)} asks:`,
    ...text
      .trim()
      .split(/\r?\n/, MAX_LINES)
      .map((asked) => `  ${harmless(asked.replaceAll("\t", "  "), MAX_CHARS)}`),
    rest.default === undefined
      ? `It has no default: without an answer within ${left} the worker decides by itself.`
      : `Default, taken in ${left} without an answer: ${harmless(rest.default)}`,
    "Other tasks go on meanwhile.",
  ];
}

function planLines({ seen: { state } }: Followed): readonly string[] {
  const tasks = [...state.proposed].filter((id) => state.tasks.has(id));
  return [
    `The plan has ${plural(tasks.length, "task")}. They start if you approve (a); x declines with a reason.`,
    ...tasks.flatMap((id) => termsOf(state, id)),
  ];
}

function termsOf(state: Followed["seen"]["state"], id: TaskId): readonly string[] {
  const { spec } = taskOf(state, id);
  const [what = ""] = harmlessLines(spec.description.trim(), 1);
  return [
    `${harmless(spec.key, 60)}: ${what}`,
    `  may change: ${harmless(scopeLabel(spec))}`,
    ...(spec.acceptance === "" ? [] : [`  accepted if: ${harmless(spec.acceptance)}`]),
  ];
}
