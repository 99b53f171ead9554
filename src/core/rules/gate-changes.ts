/** Judges changes of what the gate, CI or hooks run, and of what steers agents: by the task's scope and the setting. */
import { type Failure, failure } from "../failure.ts";
import { containing } from "../scope.ts";
import type { TaskSpec } from "../task.ts";
import type { Policy } from "./policy.ts";

/** A difference between two commits that defines the gate, or that other programs obey. */
export type GateChange = {
  readonly of: "gate" | Obeyed;
  /** The file that it is in, for the scope. */
  readonly file: string;
  /** In words: "package.json: the script test". */
  readonly what: string;
};

/** As proofs, reports and `skein status` say it. */
export const flagOf = ({ of, what }: GateChange): string => (of === "gate" ? what : `${what}: ${OBEYED[of]}`);

/** Whether a flag is about the gate itself. */
export const isOfGate = (flag: string): boolean =>
  Object.values(OBEYED).every((words) => !flag.endsWith(`: ${words}`));

/** What obeys a file that is not the gate's. The words are in recorded runs: add to them, and do not change them. */
const OBEYED = {
  agents: "it steers agents",
  ci: "CI runs it",
  hooks: "git hooks run it",
  shell: "shells load it",
} as const;

export type Obeyed = keyof typeof OBEYED;

export const CHANGED_OF: readonly GateChange["of"][] = ["gate", ...(Object.keys(OBEYED) as Obeyed[])];

/** Shared files do not count here: that any task may rewrite a file does not mean that it may change the gate. */
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
