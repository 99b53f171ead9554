/** What does the command's exit code say? One number per answer; scripts depend on them. */

export const EXIT = {
  done: 0,
  notAllDone: 1,
  usage: 2,
  configuration: 3,
  agentUnavailable: 4,
  authentication: 5,
  /** EX_TEMPFAIL of sysexits.h: trying again later is right. */
  parked: 75,
  /** 128 + SIGINT, as shells count. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** It was said why; this is the exit code. */
export type Exit = { readonly exit: ExitCode };

/** The words that `skein --help` shows. */
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
