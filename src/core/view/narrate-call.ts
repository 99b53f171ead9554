/** Makes lines for people about workers' subtasks and questions. */

import { clockTime, firstLine } from "../../text/words.ts";
import type { EventOf } from "../log/event.ts";
import { nameOf, type RunState, taskOf, wallTime } from "../log/state.ts";
import { type SubtaskQuestion, type ToolResponse, UNANSWERED } from "../subtask.ts";
import type { TaskId } from "../task.ts";
import { bad, type Line, plain, quiet } from "./line.ts";

type CallEvent = EventOf<
  "subtask.spawned" | "subtask.refused" | "question.asked" | "question.passed" | "question.answered"
>;

export function narrateCall(event: CallEvent, state: RunState): Line | undefined {
  const name = (id: TaskId) => nameOf(state, id);
  switch (event.type) {
    case "subtask.spawned":
      return plain(
        `${name(event.task)} delegates ${event.into.spec.key}: ${firstLine(event.into.spec.description)}`,
      );
    case "subtask.refused": {
      const what = event.response.name === "answer" ? "a question" : "a subtask";
      return quiet(`Refused ${what} of ${name(event.task)}: ${refusalText(event.response)}`);
    }
    case "question.asked":
      return asksText(event.question, state);
    case "question.passed":
      return event.to === "person" ? asksText(state.questions.get(event.question)!, state) : undefined;
    case "question.answered":
      if (event.by === "default" && event.text === UNANSWERED)
        return plain(`${event.question} was not answered in time and has no default: the worker decides`);
      return plain(
        `${event.question} answered by ${answererText(event.by, state)}: ${firstLine(event.text)}`,
      );
  }
}

/** The line for a worker that goes on because it got the response to its call. */
export function goesOn(id: TaskId, state: RunState): Line | undefined {
  const response = taskOf(state, id).goOn?.response;
  return response && quiet(`${nameOf(state, id)} ${WITH[response.name]}`);
}

const WITH = {
  subtask: "continues with the result of its subtask",
  answer: "continues with the answer to its question",
  question: "answers a question of its subtask",
} as const satisfies Record<ToolResponse["name"], string>;

/** A question to a person is shown in red with what to type; one to a task above is only mentioned. */
function asksText({ id, task, text, to, default: taken, until }: SubtaskQuestion, state: RunState): Line {
  const asks = `${nameOf(state, task)} asks (${id}): ${firstLine(text)}`;
  if (to !== "person") return plain(`${asks} (${nameOf(state, to)} is asked first)`);
  const run = state.request?.run;
  const otherwise = taken === undefined ? "it continues without an answer" : `it takes "${firstLine(taken)}"`;
  return bad(
    `${asks}; answer with: skein answer ${run} ${id} "…"; at ${clockTime(wallTime(state, until))} ${otherwise}`,
  );
}

const answererText = (by: EventOf<"question.answered">["by"], state: RunState): string =>
  by === "person" ? "you" : by === "default" ? "its default" : nameOf(state, by.task);

function refusalText({ result }: ToolResponse): string {
  const error = result.notes["error"];
  return typeof error === "object" && error !== null && "message" in error
    ? firstLine(String(error.message))
    : "it could not be read";
}
