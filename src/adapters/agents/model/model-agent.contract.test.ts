/** Runs the contract suite of the agent port against the built-in agent, over real HTTP. */
import path from "node:path";
import { after } from "node:test";
import { agentContract, type Behaviour, type MakeAgent } from "../../../../test/contracts/agent.ts";
import { callingAgentContract, REQUEST } from "../../../../test/contracts/calling-agent.ts";
import { agentParts, hearing } from "../../../../test/support/agent-parts.ts";
import {
  type Answerer,
  type ModelServer,
  type Reply,
  startModelServer,
} from "../../../../test/support/model-server/model-server.ts";
import { RecordingGovernor } from "../../../../test/support/model-turns.ts";
import type { Agent, Called, Said } from "../../../ports/agent.ts";
import { openModel } from "../../models/providers.ts";
import { noSandbox } from "../../sandboxes/sandbox.ts";
import { ModelAgent } from "./model-agent.ts";

const TASK = { id: "a", description: "Make a", acceptance: "it is there", scope: ["made.txt"] };
const make = "echo made > made.txt";
const HANG: Reply = { fault: { is: "hang" } };
const ANSWERS: Readonly<Record<Behaviour, Answerer>> = {
  works: ({ messages }) =>
    messages.at(-1)?.role === "tool"
      ? {
          tools: [{ name: "handoff", input: { status: "complete", summary: "made it" } }],
          usage: { input: 2, output: 1 },
        }
      : { tools: [{ name: "bash", input: { command: make } }], usage: { input: 3, output: 1 } },
  plans: () => ({ tools: [{ name: "plan", input: { scratchpad: "", tasks: [TASK] } }] }),
  silent: () => ({ text: "", usage: { input: 0, output: 0 } }),
  fails: () => ({ fault: { is: "status", status: 400 } }),
  outage: () => ({ fault: { is: "status", status: 503 } }),
  dies: () => HANG,
  hangs: () => HANG,
};

/** Answers with a summary of all messages since the model's last words. */
const delegates: Answerer = ({ messages }) => {
  const said = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1);
  const told = said.flatMap(({ text, toolResults }) => [text, ...toolResults.map((result) => result.text)]);
  const summary = told.join("\n");
  return /has ended|Go on|Answer your subtask/.test(summary)
    ? { tools: [{ name: "handoff", input: { status: "complete", summary } }] }
    : { tools: [{ name: "spawn_subtask", input: REQUEST }], usage: { input: 5, output: 2 } };
};

const servers: ModelServer[] = [];
after(() => Promise.all(servers.map((server) => server.close())));

/** The agent lives in the engine's process and dies with it: here, when its first call has reached the server. */
const makeAgent: MakeAgent = (behaviour, folder) => {
  const called = Promise.withResolvers<void>();
  const died = new AbortController();
  const inner = agentAt(folder, (call, signal) => {
    called.resolve();
    if (behaviour === "dies") died.abort();
    return ANSWERS[behaviour](call, signal);
  });
  return { agent: plainAgent(inner, died.signal), begun: called.promise };
};

async function agentAt(folder: string, answer: Answerer): Promise<Agent> {
  const server = await startModelServer({ answer });
  servers.push(server);
  const model = await openModel({ provider: "mine", model: "m", baseUrl: server.url }, {});
  if ("failure" in model) throw new Error(model.failure.message);
  return new ModelAgent({
    ...agentParts(folder, hearing()),
    limits: {},
    models: async () => [model],
    prompts: {
      "root-planner": "ROOT",
      subplanner: "SUB",
      worker: "WORKER",
      "execution-planner": "EXECUTION",
      subtask: "SUBTASK",
    },
    governor: new RecordingGovernor(),
    sandbox: noSandbox("a test"),
    conversations: path.join(folder, "..", "conversations"),
    wait: async () => {},
  });
}

const plainAgent = (inner: Promise<Agent>, died: AbortSignal): Agent => ({
  turn: async (ask, signal) => plain(await (await inner).turn(ask, AbortSignal.any([signal, died]))),
  collect: async (job) => {
    const found = await (await inner).collect(job);
    return found === undefined || found.is === "cut" ? undefined : plain(found);
  },
});

/** The contract only knows tokens; other costs of a turn are tested separately. */
function plain({ spent, ...said }: Said | Called): Said | Called {
  return (spent && spent.tokens > 0 ? { ...said, spent: { tokens: spent.tokens } } : said) as Said | Called;
}

agentContract("that is a model", makeAgent);
callingAgentContract("that is a model", (folder) =>
  plainAgent(agentAt(folder, delegates), new AbortController().signal),
);
