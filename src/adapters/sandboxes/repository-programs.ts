/** Runs the repository's own commands, gate and set-up, in the sandbox, and checks the user's checkout after each. */
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Programs } from "../../ports/programs.ts";
import { WatchedPrograms, type WatchedProgramsOptions } from "../checkouts.ts";
import { ConfinedPrograms } from "./confined-programs.ts";
import { noSandbox, type Sandbox } from "./sandbox.ts";

type RepositoryProgramsOptions = WatchedProgramsOptions & {
  readonly sandbox: () => Promise<Sandbox | Failed>;
  readonly gateSandbox: "auto" | "off";
  /** Whether set-up commands may download packages. */
  readonly network: boolean;
};

export type RepositoryPrograms = {
  readonly gate: Programs;
  readonly setup: Programs;
  /** Watched, without sandbox: for callers that wrap commands themselves, and for running the gate outside. */
  readonly plain: Programs;
  readonly isGateConfined: () => Promise<boolean>;
};

export function repositoryPrograms(options: RepositoryProgramsOptions): RepositoryPrograms {
  const plain = new WatchedPrograms(options);
  const sandbox = async () => (options.gateSandbox === "off" ? OFF : options.sandbox());
  return {
    gate: new ConfinedPrograms({ programs: plain, sandbox }),
    setup: new ConfinedPrograms({ programs: plain, sandbox, mayFetch: options.network }),
    plain,
    isGateConfined: async () => {
      const found = await sandbox();
      return !hasFailed(found) && found.level !== "none";
    },
  };
}

const OFF = noSandbox("switched off for the gate: its commands run as you");
