/** Says how a delivery ended, in words that every surface shows. */
import { unreachable } from "../core/unreachable.ts";
import type { DeliveryEnd } from "../ports/delivery.ts";
import { short } from "../text/words.ts";

type Said = {
  readonly run: string;
  /** The command that tries it again. */
  readonly again: string;
  readonly baseBranch: string;
  readonly target: string;
};
type Good = Extract<DeliveryEnd, { readonly is: "delivered" | "nothing-new" }>;

export const isDeliveredEnd = (end: DeliveryEnd): end is Good =>
  end.is === "delivered" || end.is === "nothing-new";

export function deliveredWords(end: Good, { run, baseBranch }: Said): string {
  if (end.is === "nothing-new") return `${baseBranch} has everything of run ${run} already`;
  const [from, to] = [short(end.from), short(end.to)];
  const failing = end.failing ?? [];
  const names = failing.slice(0, MAX_NAMED).join(", ") + (failing.length > MAX_NAMED ? ", …" : "");
  const red =
    failing.length === 0 ? "" : ` The gate fails there, as it did on ${baseBranch} before: ${names}.`;
  const gated = end.isUngated ? "merged into the target; there is no gate" : GATED_TOGETHER;
  const merged = end.isMerged ? `${baseBranch} had moved: it was ${gated}; ` : "";
  return `${merged}delivered: ${baseBranch} went from ${from} to ${to}.${red} See it: git log --first-parent ${from}..${baseBranch}`;
}

const MAX_NAMED = 10;

const GATED_TOGETHER = "merged into the target, and both passed the gate together";

export function undeliveredWords(
  end: Exclude<DeliveryEnd, Good>,
  { again, baseBranch, target }: Omit<Said, "run">,
): { readonly message: string; readonly next: string; readonly lines?: readonly string[] } {
  const unchanged = end.isMerged
    ? `it was not moved, but ${target} has now what it had before`
    : "nothing was changed";
  switch (end.is) {
    case "checked-out":
      return end.why === "not-asked"
        ? {
            message: `${baseBranch} is checked out in ${end.where}: ${unchanged}`,
            next: `${again} --into-checkout, which changes the files there; or git merge ${target} yourself`,
          }
        : {
            message: `${end.where} has changes that are not committed, so ${baseBranch} was not moved there`,
            next: `commit or stash them, then ${again} --into-checkout`,
          };
    case "conflict":
      return {
        message: `${baseBranch} has moved meanwhile, and conflicts with what landed: ${unchanged}`,
        lines: end.files,
        next: `git merge ${target} into ${baseBranch} by hand, or start a run that does`,
      };
    case "red":
      return {
        message: `${baseBranch} has moved meanwhile; together with what landed the gate fails: ${unchanged}`,
        lines: end.failures,
        next: "fix it on either side, then deliver again",
      };
    case "red-otherwise":
      return {
        message: `the gate fails on what landed by failures that ${baseBranch} does not have: ${unchanged}`,
        lines: end.failures,
        next: "let another run repair them, or repair them on the target by hand",
      };
    case "unjudged":
      return {
        message: `nobody can tell whether the gate fails on what landed as it does on ${baseBranch}: ${unchanged}`,
        lines: end.why,
        next: `make the gate run on ${baseBranch}, and start a run from there; or git merge ${target} yourself`,
      };
    case "base-keeps-moving":
      return { message: `${baseBranch} moves faster than the gate runs: ${unchanged}`, next: again };
    default:
      return unreachable(end);
  }
}
