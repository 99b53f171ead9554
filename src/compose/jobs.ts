/** Builds the parts of a run's jobs on this machine: workspaces, programs, gate, agents and files. */
import path from "node:path";
import { fileArtefacts } from "../adapters/artefacts.ts";
import { callsOf } from "../adapters/call-desk/door.ts";
import { CommandCriteria } from "../adapters/criteria.ts";
import { JobFiles } from "../adapters/job-queues/job-files.ts";
import { FolderOutbox } from "../adapters/outboxes.ts";
import { GitRepository } from "../adapters/repositories/git.ts";
import { repositorySandbox } from "../adapters/sandboxes/repository-sandbox.ts";
import { scratchpadOf } from "../adapters/scratchpads.ts";
import { gitSurroundings } from "../adapters/surroundings.ts";
import { FileTranscripts } from "../adapters/transcripts.ts";
import { openWorkshop } from "../adapters/workshop.ts";
import type { JobsOptions } from "../app/jobs-options.ts";
import { unconfined } from "../app/unconfined.ts";
import { secretsFor } from "../config/accounts.ts";
import * as configured from "../config/to-parts.ts";
import type { JobParts } from "../jobs/job-parts.ts";
import { recordedPlan } from "../planning/recorded-plan.ts";
import { trustOf } from "../ports/trust.ts";
import { redactor } from "../text/redact.ts";
import { agentsOf, filesIn } from "./agents.ts";
import { specialistsOf, templatesOf } from "./roles.ts";

/** `stack`: closes everything in the right order. */
export function openJobs(options: JobsOptions) {
  const { project, env, home, config, agents, governor, top, clock, shared, signs, checkoutChanged } =
    options;
  const stack = new AsyncDisposableStack();
  const { gitDir } = project.located;
  const agrees = trustOf(home.record);
  const at = (name: string) => path.join(home.folder, name);
  const secrets = secretsFor(config, options.secretsIn ?? env);
  const redact = redactor(secrets);
  const { maxTranscript: maxBytes } = config.log;
  const transcripts = new FileTranscripts({ folder: at("transcripts"), secrets, maxBytes });
  const sandbox = repositorySandbox(project, config, env);
  const limits = configured.gateLimits(config);
  const { checkout, programs, plain, shelf, workspaces, gate } = openWorkshop(config, {
    ...{ project, home, env, clock, limits, sandbox, transcripts, redact, signs, checkoutChanged },
    agrees,
    ...configured.workshopSettings(config, env),
  });
  const folder = project.located.top;
  const repository = stack.adopt(new GitRepository({ folder, shelf, ...(shared && { shared }) }), (one) =>
    one.close(),
  );
  stack.defer(() => workspaces.leave());
  const calls = callsOf(home.folder);
  stack.defer(() => calls.desk.close());
  stack.defer(() => gate.close());
  // Kept outside of the jobs' folder: an agent is told its own folder, and must not be able to write its own answer.
  const limitsOfTurns = configured.turnLimits(config);
  const turns = { folder: at("turns"), programs, transcripts, limits: limitsOfTurns, redact, calls };
  const conversations = at("conversations");
  const agentParts = { config, env, top, agrees, turns, conversations, governor, sandbox };
  const { worker, planner } = agentsOf(agentParts, agents);
  const scratchpad = scratchpadOf(project, home, env);
  const plan = recordedPlan(home, scratchpad.folder);
  const tries = { programs: plain, transcripts, limits, redact, sandbox, scratchpad: scratchpad.folder };
  const files = new JobFiles(at("jobs"));
  const jobs: JobParts = {
    ...{ repository, workspaces, worker, checkout, redact, signs, unkept: new Map() },
    gate: options.gateOf ? options.gateOf(gate) : gate,
    planner: plan.planner ?? planner,
    remember: (job, answer) => files.end(job, answer).catch(() => {}), // The queue tries again.
    surroundings: gitSurroundings(gitDir),
    specialists: specialistsOf(top, agrees),
    subtasks: {
      templates: async () => (await templatesOf(top, false, agrees)).registry,
      filesIn,
      artefacts: fileArtefacts(at("artefacts"), redact),
    },
    outbox: new FolderOutbox(scratchpad),
    criteria: new CommandCriteria(tries),
    maxTurnMs: configured.maxTurnMs(config),
  };
  const unready = async () =>
    plan.problem ?? scratchpad.problem ?? unconfined(config, plan.hasCriteria === true, sandbox);
  return { stack, jobs, files, programs, workspaces, shelf, scratchpad, gate, unready };
}
