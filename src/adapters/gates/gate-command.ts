/** What is one command of a gate, and what does its failure count as? */
import type { ProblemClass } from "../../core/repair.ts";

/** `name` is the same in every run: failures are compared by it. */
export type GateCommand = {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
};

/** A line for the shell, as a person writes it into the configuration. */
export const shellCommand = (name: string, run: string): GateCommand => ({
  name,
  command: ["/bin/sh", "-c", run],
});

/** As a person would type it, without the shell that reads it. */
export const lineOf = ({ command }: GateCommand): string =>
  command[0] === "/bin/sh" && command[1] === "-c" ? command.slice(2).join(" ") : command.join(" ");

/** By the words in its name: what a reconciler mends first. */
export function classOf(name: string): ProblemClass {
  if (/\b(?:types?|typecheck|tsc|mypy|pyright)\b/i.test(name)) return "types";
  if (/\b(?:build|compile|check|vet|lint)\b/i.test(name)) return "build";
  return "tests";
}
