/** Makes a task handler of a plain function, which is called once per turn with all that the session has seen. */
import type {
  AssembledContext,
  ContextEntry,
  HandledTaskResult,
  SpawnedTask,
  TaskHandler,
} from "../ports/subtasks.ts";

export type FunctionTurn = {
  readonly task: SpawnedTask;
  readonly context: AssembledContext;
  /** The current prompt. */
  readonly input: string;
  /** Tool responses so far, oldest first: results of subtasks, answers, questions of subtasks. */
  readonly responses: readonly FunctionResponse[];
  /** What was said before, on both sides. */
  readonly transcript: readonly ContextEntry[];
  /** Aborted when the answer is no longer needed. */
  readonly signal: AbortSignal;
};

export type FunctionResponse = { readonly name: string; readonly result: HandledTaskResult };

/** A plain text is a COMPLETE result. */
export type TurnAnswer = string | (Partial<HandledTaskResult> & Pick<HandledTaskResult, "status">);

export type Session = {
  readonly task: SpawnedTask;
  readonly context: AssembledContext;
  readonly signal: AbortSignal;
  readonly responses: FunctionResponse[];
  readonly transcript: ContextEntry[];
};

export function functionHandler(
  turn: (turn: FunctionTurn) => TurnAnswer | PromiseLike<TurnAnswer>,
): TaskHandler<Session> {
  const answered = (session: Session, answer: TurnAnswer): HandledTaskResult => {
    const result = typeof answer === "string" ? { content: answer, status: "COMPLETE" as const } : answer;
    const { content = "", notes = {} } = result;
    session.transcript.push({ is: "answer", text: content });
    return { ...result, content, notes };
  };
  return {
    open: (task, context, signal) => ({ task, context, signal, responses: [], transcript: [] }),
    prompt(session, input) {
      const { task, context, signal, responses, transcript } = session;
      const answer = turn({ task, context, signal, responses, transcript, input });
      transcript.push({ is: "input", text: input });
      if (isPromise(answer)) return answer.then((value) => answered(session, value));
      return answered(session, answer);
    },
    addToolResponse({ responses, transcript }, name, result) {
      responses.push({ name, result });
      transcript.push({ is: "tool", name, text: result.content });
    },
  };
}

const isPromise = (answer: TurnAnswer | PromiseLike<TurnAnswer>): answer is PromiseLike<TurnAnswer> =>
  typeof answer === "object" && "then" in answer;
