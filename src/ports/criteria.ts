/** The port that tries a task's success criterion in a workspace, before the worker's result counts. */
import type { Failed } from "../core/result.ts";
import type { Workspace } from "./workspaces.ts";

export type Criteria = {
  /** Must not throw. Runs as confined as the machine allows; a `Failed` is the machine's fault, not the command's. */
  try(command: string, workspace: Workspace, signal: AbortSignal): Promise<Tried | Failed>;
};

/** `detail`: the end of the command's output. */
export type Tried = { readonly is: "passed" } | { readonly is: "red"; readonly detail: string };
