/** An agent that works outside of any run: a place of its own, of which nothing stays but long results. */
import type { Failure } from "../core/failure.ts";
import type { Failed } from "../core/result.ts";
import type { Specialist } from "../core/specialist.ts";
import type { Agent } from "./agent.ts";
import type { SessionFacts } from "./inspection.ts";
import type { Signs } from "./signs.ts";
import type { Artefacts, ScriptRunner, TaskHandlers } from "./subtasks.ts";
import type { Workspace, Workspaces } from "./workspaces.ts";

export type LoneAgent = {
  readonly agent: Agent;
  /** Nothing is set up or copied there: it is looked at, and nothing in it is run. */
  readonly workspaces: Pick<Workspaces, "take" | "release">;
  readonly signs: Omit<Signs, "tell" | "quiet">;
  readonly redact: (text: string) => string;
  readonly taskHandlers: (wanted: WantedHandlers) => Promise<TaskHandlers | Failed>;
  /** Where results stay that are too long to be printed, also when it is closed. */
  readonly artefacts: Artefacts;
  readonly scriptsIn: (workspace: Workspace) => ScriptRunner;
  /** Of one that speaks ACP: does it start, and give a session? */
  readonly trySession: (maxMs: number, signal: AbortSignal) => Promise<SessionFacts>;
  /** Ends what runs, and removes everything. Says what could not be removed. */
  readonly close: () => Promise<readonly string[]>;
};

/** `onFailure`: hears why a turn failed. */
type WantedHandlers = {
  readonly roles: readonly Specialist[];
  readonly commit: string;
  readonly maxMs: number;
  readonly onFailure: (why: Failure) => void;
};
