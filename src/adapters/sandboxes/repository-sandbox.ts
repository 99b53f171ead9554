/** Opens the sandbox of one repository, which the built-in agent, the gate and the criteria of a plan share. */
import path from "node:path";
import { failure, messageOf } from "../../core/failure.ts";
import type { Failed } from "../../core/result.ts";
import type { Environment, Project } from "../../ports/project.ts";
import { openSandbox } from "./bubblewrap.ts";
import { readableOf } from "./repository-parts.ts";
import type { Sandbox } from "./sandbox.ts";

type SandboxSettings = {
  readonly sandbox: "auto" | "required" | "off";
  readonly network: boolean;
  readonly workspace: { readonly share: readonly string[] };
};

/** Opened once, by the first caller. */
export function repositorySandbox(
  { located: { top, gitDir }, stateFolder }: Pick<Project, "located" | "stateFolder">,
  { sandbox: setting, network, workspace: { share } }: SandboxSettings,
  environment: Environment,
): () => Promise<Sandbox | Failed> {
  const open = async () => {
    const hidden = [path.dirname(stateFolder), top, gitDir]; // Includes the runs of other repositories.
    const readable = await readableOf({ top, gitDir, share }, AbortSignal.timeout(LOOK_MS));
    return openSandbox({ setting, network, environment, hidden, readable });
  };
  let opened: Promise<Sandbox | Failed> | undefined;
  return () => {
    opened ??= open().catch((error: unknown) => ({
      failure: failure("repository", `the sandbox could not be opened: ${messageOf(error)}`),
    }));
    return opened;
  };
}

const LOOK_MS = 30_000;
