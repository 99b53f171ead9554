/** What do agents of every kind share? The run's programs, words, governor and places. */
import path from "node:path";
import type { CommandOptions } from "../adapters/agents/command.ts";
import { loadPrompts } from "../adapters/prompts.ts";
import { readSpecialists } from "../adapters/specialists.ts";
import type { Config } from "../config/schema.ts";
import type { Failed } from "../core/result.ts";
import type { Specialist } from "../core/specialist.ts";
import { withBuiltIn } from "../delegation/specialist-table.ts";
import type { Governor } from "../ports/governor.ts";
import type { Prompts } from "../ports/prompts.ts";
import type { Environment } from "./project.ts";

export type AgentParts = {
  readonly config: Config;
  readonly env: Environment;
  /** The user's checkout, and its git folder. */
  readonly top: string;
  readonly gitDir: string;
  /** Where all runs are, and this one. */
  readonly stateFolder: string;
  readonly runFolder: string;
  readonly programs: Omit<CommandOptions, "command">;
  readonly governor: Governor;
};

/** Those of this package, then the repository's own, then the folder that is configured. */
export const promptsOf = ({ config, top }: Pick<AgentParts, "config" | "top">): Promise<Prompts | Failed> =>
  loadPrompts(config.prompts === undefined ? [] : [path.resolve(top, config.prompts)]);

/** Read once, from the user's checkout: what a worker writes there changes nothing of this run. */
export function specialistsOf(top: string): () => Promise<readonly Specialist[]> {
  let read: Promise<readonly Specialist[]> | undefined;
  return () => {
    read ??= readSpecialists(top).then(({ specialists }) => withBuiltIn(specialists));
    return read;
  };
}
