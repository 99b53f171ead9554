/** Tells which environment variables set a key of skein.yaml. Apart from the keys, whose schemas take 40 ms to load. */
import type { Environment } from "../ports/project.ts";

/** Names that similar tools use; of two for the same key the first counts. */
export const ALIASES: readonly (readonly [variable: string, key: string])[] = [
  ["MAX_WORKERS", "workers"],
  ["CLAUDE_MAX_CONCURRENT", "workers"],
  ["WORKER_TIMEOUT", "timeout.work"],
  ["MERGE_STRATEGY", "landing.strategy"],
  ["GIT_MAIN_BRANCH", "base"],
  ["GIT_BRANCH_PREFIX", "branchPrefix"],
];

export const PREFIX = "SKEIN_";
/** Skein's variables that are not keys: where it keeps things, and what it tells the agents that it starts. */
const OTHER = new Set(
  [
    ...["STATE_DIR", "NODE_CHOSEN", "RUN", "TASK", "JOB", "KIND", "ATTEMPT", "TURN"],
    ...["BRIEF", "HANDOFF", "OUTPUT_FILE", "FLEET_URL", "FLEET_WORKER_PASSWORD"],
  ].map((name) => PREFIX + name),
);

export const isSetting = (variable: string): boolean => variable.startsWith(PREFIX) && !OTHER.has(variable);

/** The variables that set no key. */
export const withoutSettings = (env: Environment): Environment =>
  Object.fromEntries(
    Object.entries(env).filter(
      ([variable]) => !isSetting(variable) && ALIASES.every(([alias]) => alias !== variable),
    ),
  );

/** An empty variable counts as unset. */
export const setsNothing = (env: Environment): boolean =>
  Object.entries(env).every(([variable, value]) => !value || !isSetting(variable)) &&
  ALIASES.every(([variable]) => !env[variable]);
