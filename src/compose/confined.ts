/** Who runs the repository's own commands, and how confined? Gate, set-up and criteria, each watched by the tripwire. */
import { WatchedPrograms, type WatchedProgramsOptions } from "../adapters/checkouts.ts";
import { ConfinedPrograms } from "../adapters/sandboxes/confined-programs.ts";
import { noSandbox, type Sandbox } from "../adapters/sandboxes/sandbox.ts";
import type { Config } from "../config/schema.ts";
import { failure, messageOf } from "../core/failure.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { Programs } from "../ports/programs.ts";
import type { Environment, Project } from "./project.ts";

type ConfinedParts = WatchedProgramsOptions & { readonly config: Config; readonly env: Environment };

type Confined = {
  readonly gate: Programs;
  readonly setup: Programs;
  /** Watched, and as the user: for whoever wraps its commands itself, and for a look outside. */
  readonly plain: Programs;
  /** As for the commands of the built-in agent; opened once. */
  readonly sandbox: () => Promise<Sandbox | Failed>;
  readonly isGateConfined: () => Promise<boolean>;
};

export function confinedPrograms(project: Project, parts: ConfinedParts): Confined {
  const { config, env } = parts;
  const plain = new WatchedPrograms(parts);
  let opened: Promise<Sandbox | Failed> | undefined;
  const sandbox = () => {
    opened ??= open(project, config, env);
    return opened;
  };
  const forGate = async () => (config.gateSandbox === "off" ? OFF : sandbox());
  return {
    gate: new ConfinedPrograms({ programs: plain, sandbox: forGate }),
    setup: new ConfinedPrograms({ programs: plain, sandbox: forGate, mayFetch: config.network }),
    plain,
    sandbox,
    isGateConfined: async () => {
      const found = await forGate();
      return !hasFailed(found) && found.level !== "none";
    },
  };
}

const OFF = noSandbox("switched off for the gate: its commands run as you");

async function open(
  { located, stateFolder }: Project,
  config: Config,
  env: Environment,
): Promise<Sandbox | Failed> {
  try {
    const { sandboxFor } = await import("./sandbox.ts");
    return await sandboxFor({ config, env, top: located.top, gitDir: located.gitDir, stateFolder });
  } catch (error) {
    return { failure: failure("repository", `the sandbox could not be opened: ${messageOf(error)}`) };
  }
}
