/** Judges changes of what the gate, CI or hooks run, and of what steers agents: by the task's scope and the setting. */
import { type Failure, failure } from "../failure.ts";
import { containing } from "../scope.ts";
import type { TaskSpec } from "../task.ts";
import type { Policy } from "./policy.ts";

/** A difference between two commits that changes the gate, or what other programs obey. */
export type GateChange = {
  readonly of: "gate" | Obeyed;
  /** The changed file, which the scope is compared with. */
  readonly file: string;
  /** In words: "package.json: the script test". */
  readonly what: string;
};

/** The flag's words in proofs, reports and `skein status`. */
export const flagOf = ({ of, what }: GateChange): string => (of === "gate" ? what : `${what}: ${OBEYED[of]}`);

/** Whether a flag is about the gate itself. */
export const isOfGate = (flag: string): boolean =>
  Object.values(OBEYED).every((words) => !flag.endsWith(`: ${words}`));

/**
 * What obeys such a file, if that is not the gate. Recorded runs contain these words: add to them, and do not change
 * them.
 */
const OBEYED = {
  agents: "it steers agents",
  ci: "CI runs it",
  hooks: "git hooks run it",
  shell: "shells load it",
} as const;

export type Obeyed = keyof typeof OBEYED;

export const CHANGED_OF: readonly GateChange["of"][] = ["gate", ...(Object.keys(OBEYED) as Obeyed[])];

/** Shared files do not count as in scope here: any task may rewrite them, but not change the gate with them. */
export function judgeGateChanges(
  { scope }: Pick<TaskSpec, "scope">,
  changes: readonly GateChange[],
  allowed: Policy["gateChanges"],
): Failure | undefined {
  if (allowed === "flag" || changes.length === 0) return undefined;
  const isInScope = containing(scope);
  const outside = changes.filter(({ file }) => !isInScope(file));
  if (outside.length > 0)
    return failure("out-of-scope", `${wordsOf(outside)}, which is outside its scope`, NEXT);
  return allowed === "refuse"
    ? failure("rule-broken", `${wordsOf(changes)}, which is not allowed here (gateChanges: refuse)`, NEXT)
    : undefined;
}

const NEXT = "do not change that; if the task needs it, report it as a concern";

const wordsOf = (changes: readonly GateChange[]): string => {
  const some = changes.slice(0, MAX_NAMED).map(flagOf).join(", ");
  const more = changes.length > MAX_NAMED ? ` and ${changes.length - MAX_NAMED} more` : "";
  return `it changes what the gate, CI or hooks run, or what steers agents (${some}${more})`;
};

const MAX_NAMED = 5;
