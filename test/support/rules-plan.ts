/** A small plan as the rules make it for a test's request. */
import type { ExecutionPlan, PlanTask } from "../../src/planning/plan.ts";

const task = (id: string, subject: string): PlanTask => ({
  id,
  subject,
  description: `${subject}.`,
  activeForm: subject,
  blockedBy: [],
  scope: [],
  reads: [],
  delivers: "change",
  requirements: [],
  metadata: { wave: 0, phase_id: id, agent: "general-purpose", parallel: true, depth: 1 },
});

export const RULES_PLAN: ExecutionPlan = {
  skein_plan: 1,
  goal: "Add two commands",
  planner: "rules",
  max_concurrent: 4,
  score: { verbs: 2, connectors: 0, domain: 0, scope: 0, risk: 0, total: 2, tier: 1, min_depth: 1 },
  success_criteria: ["Both commands work"],
  assumptions: [],
  questions: [],
  context: { files: [], patterns: [], tests: [] },
  tasks: [task("1", "Add the first command"), task("2", "Add the second command")],
  risks: [],
};
