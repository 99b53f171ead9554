/** Does a command pass in a workspace? Asked of what a worker made, before its result counts. */
import type { Failed } from "../core/result.ts";
import type { Workspace } from "./workspaces.ts";

export type Criteria = {
  /** Must not throw. As confined as the machine can; a failure is the machine's, not the command's. */
  try(command: string, workspace: Workspace, signal: AbortSignal): Promise<Tried | Failed>;
};

/** `detail`: the end of what it wrote. */
export type Tried = { readonly is: "passed" } | { readonly is: "red"; readonly detail: string };
