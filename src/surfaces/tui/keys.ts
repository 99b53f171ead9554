/** Maps a key to a command to the run, or to a prompt for text. */
import { nameOf } from "../../core/log/state.ts";
import { ROOT, type TaskId } from "../../core/task.ts";
import { approvalFor, canResume, type Need, needsOf, questionsFor } from "../../core/view/needs.ts";
import type { Standing } from "../../core/view/standing.ts";
import type { QuestionView } from "../../core/view/view-people.ts";
import type { MailboxMessage } from "../../ports/mailbox.ts";
import { harmless } from "../../text/words.ts";
import type { Followed } from "./follow.ts";

export type Prompt = {
  readonly label: string;
  readonly text: string;
  /** Sent if nothing is typed. */
  readonly placeholder?: string;
  /** The question that is being answered, shown in full meanwhile. */
  readonly question?: QuestionView;
  readonly send: (text: string) => MailboxMessage;
};

/** Keys apply to the open item, else to the first one that waits, as the screen says. */
export function askFor(
  input: string,
  { view, seen }: Followed,
  task: TaskId | undefined,
  open?: Need,
): MailboxMessage | Prompt | undefined {
  if (view.times.closedAt !== undefined) return undefined;
  const question = open?.is === "question" ? open.question : questionsFor(view)[0];
  const which = open?.is === "gate-change" ? { task: open.change.task } : approvalFor(view);
  switch (input) {
    case "p":
      return { type: "pause" };
    case "u":
      return { type: "resume" };
    case "s":
      return { label: "Tell the planner", text: "", send: (message) => ({ type: "steer", message }) };
    case "a":
      return which && { type: "approve", ...which };
    case "x":
      return (
        which && {
          label: "Reason to decline",
          text: "",
          send: (reason) => ({ type: "decline", reason, ...which }),
        }
      );
    case "r":
      return (
        question && {
          label: `Answer to ${harmless(question.name, 40)}`,
          text: "",
          ...(question.default !== undefined && { placeholder: question.default }),
          question,
          send: (text) => ({ type: "answer", question: question.question, text }),
        }
      );
    case "c":
      return task === undefined
        ? undefined
        : {
            label: `Reason to cancel ${task === ROOT ? "the whole run" : harmless(nameOf(seen.state, task), 40)}`,
            text: "",
            send: (reason) => ({ type: "cancel", task, reason }),
          };
    default:
      return undefined;
  }
}

/** The keys that have an effect now. A narrow screen cuts the last ones, which people try anyway. */
export function keysFor(view: Standing, { isOpen, leave }: { isOpen: boolean; leave: string }): string {
  const commands = [
    ...(approvalFor(view) ? ["a approve", "x decline"] : []),
    ...(questionsFor(view)[0] ? ["r answer"] : []),
    ...(needsOf(view).length > 0 ? ["n read it"] : []),
    canResume(view) ? "u resume" : "p pause",
    "s steer",
    "c cancel",
  ];
  const moves = isOpen
    ? ["Esc back", "Tab page", "Up/Down scroll"]
    : ["Enter open", "g gate runs", "/ filter", "h hide done", "Space unfold", "Up/Down choose"];
  const isOver = view.times.closedAt !== undefined;
  return [...(isOver ? [] : commands), leave, "? words", ...moves].join("  ");
}
