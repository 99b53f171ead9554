/** Shows what needs a person in full: a question with its default and its time, a plan with the files of its tasks. */
import { Box } from "ink";
import { createElement as h, type ReactNode } from "react";
import { type Need, needKey, needsOf } from "../../core/view/needs.ts";
import { proposedPlan } from "../../core/view/proposed-plan.ts";
import type { QuestionView } from "../../core/view/view-people.ts";
import { duration, harmless, harmlessLines, plural } from "../../text/words.ts";
import { wrapped } from "../cli/columns.ts";
import type { Followed } from "./follow.ts";
import { line } from "./line.ts";

type NeedsProps = {
  readonly followed: Followed;
  /** The shown item, by its key. */
  readonly need: string;
  readonly scrolled: number;
  readonly lines: number;
  readonly columns: number;
};

export function NeedsView({ followed, need: key, scrolled, lines, columns }: NeedsProps): ReactNode {
  const needs = needsOf(followed.view, followed.word);
  const at = needs.findIndex((one) => needKey(one) === key);
  const need = needs[at];
  if (!need) return line(needs.length > 0 ? "It needs you no more: n next" : "Nothing needs you.");
  const which = needs.length > 1 ? `, ${at + 1} of ${needs.length}: n next` : "";
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

/** The question, shown above the answer that is being typed. */
type QuestionProps = Pick<NeedsProps, "scrolled" | "lines" | "columns"> & { readonly question: QuestionView };

/** `scrolled`: lines above its end, because the actual question is more often at the end than at the beginning. */
export function QuestionAbove({ question, scrolled, lines, columns }: QuestionProps): ReactNode {
  const all = onScreen(questionLines(question), columns);
  const first = Math.max(0, all.length - lines - scrolled);
  const shown = all.slice(first, first + lines);
  if (first > 0 && shown.length > 1) shown[0] = "… (Up and Down scroll)";
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
      return [...questionLines(need.question), "Other tasks go on meanwhile.", "", "r answers"];
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
/** Per line: the whole question is shown, even if it is one long paragraph. */
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
  ];
}

function planLines({ seen: { state } }: Followed): readonly string[] {
  const tasks = proposedPlan(state);
  return [
    `The plan has ${plural(tasks.length, "task")}. They start if you approve (a); x declines with a reason.`,
    ...tasks.flatMap(({ name, description, files, acceptance, after }) => [
      `${harmless(name, 60)}: ${harmlessLines(description.trim(), 1)[0] ?? ""}`,
      `  may change: ${harmless(files)}`,
      ...(acceptance === "" ? [] : [`  accepted if: ${harmless(acceptance)}`]),
      ...(after.length === 0 ? [] : [`  after: ${harmless(after.join(", "))}`]),
    ]),
  ];
}
