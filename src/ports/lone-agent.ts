/** The parts of an agent outside of any run: a temporary folder, of which only long results are kept. */
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
  /** Nothing is set up or copied there: its files are only read, and none is run. */
  readonly workspaces: Pick<Workspaces, "take" | "release">;
  readonly signs: Omit<Signs, "tell" | "quiet">;
  readonly redact: (text: string) => string;
  readonly taskHandlers: (wanted: WantedHandlers) => Promise<TaskHandlers | Failed>;
  /** Where results stay that are too long to print; they stay after `close`. */
  readonly artefacts: Artefacts;
  readonly scriptsIn: (workspace: Workspace) => ScriptRunner;
  /** For an agent that speaks ACP: finds out whether it starts and opens a session. */
  readonly trySession: (maxMs: number, signal: AbortSignal) => Promise<SessionFacts>;
  /** Ends what is running, and removes everything. Returns what could not be removed. */
  readonly close: () => Promise<readonly string[]>;
};

/** `onFailure`: called with why a turn failed. */
type WantedHandlers = {
  readonly roles: readonly Specialist[];
  readonly commit: string;
  readonly maxMs: number;
  readonly onFailure: (why: Failure) => void;
};
