/** The gate of a repository: in a sandbox where possible; a failing base is also tried outside of it. */
import type { Gate } from "../../ports/gate.ts";
import type { Workspaces } from "../../ports/workspaces.ts";
import type { RepositoryPrograms } from "../sandboxes/repository-programs.ts";
import { CommandGate, type CommandGateParts } from "./command.ts";
import { lookingOutside } from "./look-outside.ts";

type RepositoryGateParts = Omit<CommandGateParts, "programs"> & {
  readonly run: RepositoryPrograms;
  readonly network: boolean;
};

export function repositoryGate({
  run,
  network,
  ...parts
}: RepositoryGateParts): Gate & Pick<CommandGate, "close"> {
  const inside = new CommandGate({ ...parts, programs: run.gate });
  const outside = new CommandGate({
    ...parts,
    programs: run.plain,
    workspaces: untouched(parts.workspaces),
  });
  const gate = lookingOutside({ inside, outside, isConfined: run.isGateConfined, network });
  return { ...gate, close: () => inside.close() };
}

/** Workspaces for runs outside of the sandbox: each is removed afterwards, and set up as the user would. */
const untouched = (workspaces: Workspaces): Workspaces => ({
  take: (want, signal) => workspaces.take({ ...want, use: "probe", isUnconfined: true }, signal),
  keep: (workspace, as, signal) => workspaces.keep(workspace, as, signal),
  release: (workspace, isSpoilt) => workspaces.release(workspace, isSpoilt),
  heldBy: (job) => workspaces.heldBy(job),
  leftovers: async () => ({ left: [], removed: [] }),
});
