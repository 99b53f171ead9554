/** Tests questions in an agent's plan: a person's answer makes a new plan, and without an answer the default holds. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { ExecutionPlan } from "../../src/planning/plan.ts";
import { makePlace, type Place } from "./cli-place.ts";

const SKEIN = fileURLToPath(new URL("../../bin/skein", import.meta.url));

const planFor = (form: string) => ({
  goal: `Export the list as ${form}`,
  success_criteria: ["It is exported"],
  questions: [{ question: "Which form?", default: "CSV", blocking: true }],
  tasks: [
    {
      ...{
        id: "export",
        subject: `Export as ${form}`,
        description: `Export the list as ${form} in src/export.ts`,
      },
      ...{
        scope: ["src/export.ts"],
        requirements: ["It is tested"],
        metadata: { agent: "general-purpose", depth: 1 },
      },
    },
  ],
});

/** Plans for XML once the request names it. */
const AGENT = `#!/bin/sh
case "$(cat)" in
  *"Which form?"*XML*) echo '${JSON.stringify({ ...planFor("XML"), questions: [] })}' ;;
  *) echo '${JSON.stringify(planFor("CSV"))}' ;;
esac
`;

async function planWith({ repository, agent, state, folder }: Place, reply: string): Promise<ExecutionPlan> {
  const file = path.join(folder, `plan-${reply.trim()}.json`);
  execFileSync(SKEIN, ["plan", "Export the list in some form", "--agent", agent, "--ask", "--out", file], {
    ...{ cwd: repository.folder, input: reply, encoding: "utf8", stdio: ["pipe", "pipe", "pipe"] },
    env: { ...process.env, HOME: path.join(folder, "home"), SKEIN_STATE_DIR: state },
  });
  return JSON.parse(await readFile(file, "utf8")) as ExecutionPlan;
}

test("an agent's question is asked once: an answer makes a new plan, silence takes the default and says so", async () => {
  await using place = await makePlace();
  await writeFile(place.agent, AGENT, { mode: 0o755 });
  const answered = await planWith(place, "XML\n");
  assert.deepEqual([answered.goal, answered.questions], ["Export the list as XML", []]);
  const silent = await planWith(place, "\n");
  assert.equal(silent.goal, "Export the list as CSV");
  assert.deepEqual(silent.questions, []);
  assert.ok(silent.assumptions.includes("Which form? Assumed: CSV."), silent.assumptions.join());
});
