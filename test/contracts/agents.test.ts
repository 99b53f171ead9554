/** Runs every other agent adapter against the contract of agents. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { CommandAgent } from "../../src/adapters/agents/command.ts";
import { scripted } from "../../src/adapters/agents/scripted.ts";
import type { PlanTurn, WorkAttempt } from "../../src/ports/agent-script.ts";
import { agentParts, hearing } from "../support/agent-parts.ts";
import { agentContract, type Behaviour } from "./agent.ts";

const HANDOFF = { status: "complete", summary: "made it", spent: { tokens: 7 } };
const ANSWER = {
  scratchpad: "",
  tasks: [{ id: "a", description: "Make a", acceptance: "it is there", scope: ["made.txt"] }],
};

const SHELL: Readonly<Record<Behaviour, string>> = {
  works: `echo made > made.txt; echo '${JSON.stringify(HANDOFF)}' > "$SKEIN_HANDOFF"`,
  plans: `echo "I thought about it."; echo '${JSON.stringify(ANSWER)}'`,
  silent: ":",
  fails: "echo made > made.txt; echo oh no >&2; exit 3",
  outage: "exit 75",
  dies: "kill -KILL $$",
  hangs: "echo begun; sleep 1000",
};

agentContract("that is any program", (behaviour, folder) => {
  const heard = hearing();
  const command = ["sh", "-c", SHELL[behaviour]] as const;
  return { agent: new CommandAgent({ command, ...agentParts(folder, heard) }), begun: heard.begun };
});

const write = { do: "write", path: "made.txt", text: "made\n" } as const;
const WORK: Readonly<Record<Exclude<Behaviour, "plans">, WorkAttempt>> = {
  works: { steps: [write], end: { handoff: HANDOFF } },
  silent: { end: "silent" },
  fails: { steps: [write], end: { exit: 3 } },
  outage: { end: "outage" },
  dies: { steps: [write], end: "crash" },
  hangs: { steps: [{ do: "say", text: "begun" }], end: "hang" },
};
const PLAN: readonly PlanTurn[] = [{ answer: ANSWER }];

agentContract("that follows a script", (behaviour, folder) => {
  const heard = hearing();
  const script = path.join(folder, "..", `${behaviour}.json`);
  mkdirSync(path.dirname(script), { recursive: true });
  writeFileSync(
    script,
    JSON.stringify(behaviour === "plans" ? { plans: { t: PLAN } } : { work: { a: [WORK[behaviour]] } }),
  );
  return { agent: scripted(script, agentParts(folder, heard)), begun: heard.begun };
});
