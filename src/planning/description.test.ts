/** Tests what the tasks of an agent's plan contain of the request. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RULES_PLAN } from "../../test/support/rules-plan.ts";
import { MAX_REQUEST_CHARS, withRequest } from "./description.ts";
import type { ExecutionPlan } from "./plan.ts";

const [TASK] = RULES_PLAN.tasks;
const planOf = (count: number, more: Partial<ExecutionPlan> = {}): ExecutionPlan => ({
  ...RULES_PLAN,
  tasks: Array.from({ length: count }, (_, at) => ({ ...TASK!, id: `${at}`, description: "Do it." })),
  ...more,
});
const told = (plan: ExecutionPlan, request: string) => withRequest(plan, request).tasks[0]!.description;

describe("a task of an agent's plan", () => {
  it("has the request in full if it is the only one, and hears of no other tasks", () => {
    assert.equal(told(planOf(1), "Add a and b."), "Do it.\n\nThe request, in full:\n\nAdd a and b.");
    assert.match(told(planOf(2), "Add a and b."), /other parts are other tasks'/);
  });

  it("hears nothing of other tasks where the plan left out a part, which may be nobody's", () => {
    assert.doesNotMatch(told(planOf(2, { not_covered: ["Add b."] }), "Add a. Add b."), /other tasks/);
  });

  it("has the beginning and the end of a long request, and the plan has what is between", () => {
    const middle = "The log says nothing. ".repeat(MAX_REQUEST_CHARS / 10);
    const request = `Find the leak. ${middle}Do not touch the API.`;
    const plan = withRequest(planOf(1), request);
    const { description } = plan.tasks[0]!;
    assert.match(description, /\n\nFind the leak\. [\s\S]*\[Cut here: [\s\S]*Do not touch the API\.$/);
    const left = plan.assumptions.filter((one) => one.startsWith("Not read: "));
    const [begin = "", rest = ""] = description
      .split("The request, in full:\n\n")[1]!
      .split("\n\n[Cut here: ");
    const end = rest.split(" Its end:]\n\n")[1]!;
    const all = [begin, ...left.map((one) => one.slice("Not read: ".length)), end].join("");
    assert.equal(all.replace(/\s/g, ""), request.replace(/\s/g, ""), "nothing is lost, all in order");
  });
});
