/** Opens an agent outside of any run, with parts like those of a run, in a temporary folder below the state folder. */
import path from "node:path";
import { failure } from "../../core/failure.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Policy } from "../../core/rules/policy.ts";
import type { AgentSpec } from "../../ports/agent-spec.ts";
import type { LoneAgent } from "../../ports/lone-agent.ts";
import type { ProgramLimits } from "../../ports/programs.ts";
import { redactor } from "../../text/redact.ts";
import { fileArtefacts } from "../artefacts.ts";
import { systemClock } from "../clocks/system.ts";
import { trySession } from "../inspect/session.ts";
import { loneGovernor } from "../lone-governor.ts";
import { loadPrompts } from "../prompts.ts";
import { openPlanningPlace } from "../runs/planning-place.ts";
import type { Sandbox } from "../sandboxes/sandbox.ts";
import { scriptsIn } from "../scripts.ts";
import { FileTranscripts } from "../transcripts.ts";
import { changedAt } from "../workspaces/changed-at.ts";
import { CloneWorkspaces } from "../workspaces/clones.ts";
import type { AgentSettings } from "./agent-settings.ts";
import { agentOpener } from "./open-agent.ts";
import { taskHandlers } from "./tasks/handlers.ts";
import { whenAsked } from "./when-asked.ts";

type LoneAgentOptions = {
  readonly settings: AgentSettings;
  readonly stateFolder: string;
  readonly secrets: readonly string[];
  readonly sandbox: () => Promise<Sandbox | Failed>;
  readonly budget: Policy["budget"];
  readonly limits: Omit<ProgramLimits, "maxMs">;
  readonly maxScriptMs: number;
  readonly workspace: {
    readonly pass: readonly string[];
    readonly filters: readonly string[];
    readonly setupTimeout: number;
  };
};

export async function openLoneAgent(spec: AgentSpec, options: LoneAgentOptions): Promise<LoneAgent | Failed> {
  const { settings, limits, secrets, sandbox } = options;
  const { pass, filters, setupTimeout } = options.workspace;
  const { env, top } = settings;
  const place = await openPlanningPlace(options.stateFolder);
  if (hasFailed(place)) return place;
  const { folder, programs, close } = place;
  const at = (name: string) => path.join(folder, name);
  const redact = redactor(secrets);
  const maxBytes = limits.maxOutputBytes;
  const transcripts = new FileTranscripts({ folder: at("transcripts"), secrets, maxBytes });
  const clock = systemClock();
  const governor = loneGovernor(clock, options);
  const turns = { folder: at("turns"), programs, transcripts, limits, redact };
  const parts = { ...settings, turns, conversations: at("conversations"), governor, sandbox };
  const open = agentOpener(spec, parts);
  const workspaces = new CloneWorkspaces({
    ...{ repository: top, folder, programs, environment: env, pass, filters, agrees: settings.agrees },
    ...{ limits: { ...limits, maxMs: setupTimeout }, maxFileBytes: limits.maxFileBytes },
  });
  return {
    ...{ agent: whenAsked(open), workspaces, redact, close },
    artefacts: fileArtefacts(path.join(options.stateFolder, "artefacts"), redact),
    signs: { clock, changedAt, waitedMs: (job) => governor.waitedMs(job) },
    taskHandlers: async (wanted) => {
      const prompts = await loadPrompts(settings.promptFolders, settings.agrees);
      if (hasFailed(prompts)) return prompts;
      const opened = await open();
      if (hasFailed(opened)) return opened;
      const { talks } = opened;
      if (talks === undefined) return { failure: SCRIPTED };
      return taskHandlers({ ...wanted, talks, workspaces, prompt: prompts.subtask });
    },
    scriptsIn: (shown) =>
      scriptsIn(shown, { programs, redact, sandbox, limits: { ...limits, maxMs: options.maxScriptMs } }),
    trySession: async (maxMs, signal) => {
      const opened = await open();
      if (hasFailed(opened)) return { ms: 0, problem: opened.failure };
      const { reach } = opened;
      if (reach === undefined || spec.kind !== "acp") return { ms: 0 };
      return trySession({ agent: { reach }, name: spec.name, env, pass, folder, maxMs }, signal);
    },
  };
}

const SCRIPTED = failure(
  "policy",
  "a script plays planners and workers; it has no words for a subtask",
  "name another agent, such as --agent ./my-agent.sh or --model anthropic/claude-sonnet-4-5",
);
