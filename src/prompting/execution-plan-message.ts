/** What does an agent hear that is asked for an execution plan? The request, its limits, and the repository. */
import type { PlanBrief, PlanRequest } from "../core/brief.ts";
import type { Facts } from "../ports/surroundings.ts";
import { MAX_MESSAGE_CHARS, messageFrom, type Part } from "./message.ts";
import { placeLines } from "./place.ts";
import { commitsPart, documentsPart, filesPart, rolesPart } from "./repository-parts.ts";

export type ExecutionPlanAsk = {
  readonly brief: PlanBrief & { readonly request: PlanRequest };
  readonly facts: Facts | undefined;
  /** "continued": what it was told and what it answered in the last turn is before its eyes. */
  readonly conversation: "new" | "continued";
};

export function executionPlanMessage(ask: ExecutionPlanAsk, maxChars = MAX_MESSAGE_CHARS): string {
  const { brief, facts, conversation } = ask;
  const { request } = brief;
  const isNew = conversation === "new";
  const parts: readonly Part[] = [
    {
      title: "The request",
      pieces: [{ head: "As the user wrote it:", as: "block", text: brief.goal }],
    },
    refusedPart(brief.rejected),
    { title: "Limits", says: limitLines(request.limits) },
    ...(isNew ? [rolesPart(request.agents), lastPlanPart(request), repositoryPart(request, brief.tip)] : []),
    ...(facts && isNew ? [documentsPart(facts, "new"), filesPart(facts), commitsPart(facts)] : []),
    { title: "Your turn", says: NEXT },
  ];
  return messageFrom(placeLines(brief), parts, maxChars);
}

const NEXT =
  "Look at the code where you are not sure, then answer once with the whole plan: by the tool `plan` if you have it, " +
  "else as one JSON object and nothing else. It is checked by rule; a plan that breaks one is refused as a whole.";

function refusedPart(rejected: readonly string[]): Part {
  const title = "Why your last plan was refused";
  if (rejected.length === 0) return { title };
  return {
    title,
    says: "Nothing of it was used. Send the whole plan again, with this mended:",
    pieces: rejected.map((text) => ({ head: "- ", as: "line", text })),
  };
}

const limitLines = ({ maxTasks, maxConcurrent }: PlanRequest["limits"]): string =>
  [`Tasks: at most ${maxTasks}`, `Tasks at the same time: ${maxConcurrent}`].join("\n");

const lastPlanPart = ({ lastPlan, lastPlanLeftOut }: PlanRequest): Part => ({
  title: "Your last plan",
  pieces:
    lastPlan === ""
      ? []
      : [{ head: "As you sent it:", as: "block", text: lastPlan, leftOut: lastPlanLeftOut }],
});

const repositoryPart = ({ repository }: PlanRequest, tip: string): Part => ({
  title: "The repository",
  says: `Commit: ${tip}`,
  pieces: repository.map((text) => ({ head: "- ", as: "line", text })),
});
