/** The exit codes of all commands, and the code of each refusal or failure; scripts depend on the numbers. */

import type { Refused } from "../../app/refused.ts";
import type { FailureKind } from "../../core/failure.ts";

export const EXIT = {
  done: 0,
  notAllDone: 1,
  usage: 2,
  configuration: 3,
  agentUnavailable: 4,
  authentication: 5,
  /** EX_TEMPFAIL of sysexits.h: the caller should retry later. */
  parked: 75,
  /** 128 + SIGINT, as shells count. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code of a use case's refusal. */
export const EXIT_OF_REFUSAL: Readonly<Record<Refused["because"], ExitCode>> = {
  usage: EXIT.usage,
  "unknown-run": EXIT.usage,
  configuration: EXIT.configuration,
  repository: EXIT.configuration,
  agent: EXIT.agentUnavailable,
  key: EXIT.authentication,
  run: EXIT.notAllDone,
  stopped: EXIT.interrupted,
};

const EXIT_OF_FAILURE: Readonly<Partial<Record<FailureKind, ExitCode>>> = {
  authentication: EXIT.authentication,
  "agent-unreachable": EXIT.agentUnavailable,
  quota: EXIT.parked,
};

/** The exit code of an agent's failure; `otherwise`: for a kind of failure without a code of its own. */
export const exitOfFailure = (kind: FailureKind, otherwise: ExitCode): ExitCode =>
  EXIT_OF_FAILURE[kind] ?? otherwise;

/** The reason was printed; this is the exit code. */
export type Exit = { readonly exit: ExitCode };

/** The meanings that `skein --help` shows. */
export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  0: "done",
  1: "not everything was done",
  2: "the command line was wrong",
  3: "the configuration or the installation is wrong",
  4: "an agent is not available",
  5: "a key is missing, or was refused",
  75: "rate limited until a quota resets",
  130: "interrupted",
};
