/** The port of the repository: what branches show, candidates, and moves of the target. It never touches a checkout. */
import type { GateReport, Proof } from "../core/gate.ts";
import type { Conflict, Member, Moved } from "../core/job.ts";
import type { Failed } from "../core/result.ts";
import type { Evidence } from "../core/rules/evidence.ts";
import type { Policy } from "../core/rules/policy.ts";

/** None of these throws: errors are values. Names are checked, and never read as an option. */
export type Repository = {
  /** What a branch shows: `commit` compared with the commit that it was made from. */
  evidence(base: string, commit: string, signal: AbortSignal): Promise<Evidence | Failed>;
  /** Merges the members onto a commit, one after the other, in the object database; no branch moves. */
  candidate(wanted: Wanted, signal: AbortSignal): Promise<Candidate | Gone | Failed>;
  /**
   * Writes the proof as a note on the commit, then moves the target there, if all objects exist and the target has not
   * moved.
   */
  land(landing: Landing, signal: AbortSignal): Promise<Landed | Gone | Failed>;
  /** A failure if objects of what landed are missing and cannot be written again. */
  whole(target: string, signal: AbortSignal): Promise<Failed | undefined>;
  /** Where the target is, the landings of this run since `since` by their proofs, and what the target lost. */
  look(target: string, since: string, signal: AbortSignal): Promise<Moved | Failed>;
};

export type Wanted = {
  readonly run: string;
  /** The branch that is to move there: whether it may is checked before the gate runs, and again before it moves. */
  readonly target?: string;
  readonly onto: string;
  readonly strategy: Policy["landing"]["strategy"];
  readonly members: readonly Branch[];
  /** In ms: the date of its commits; default: now. The same request with the same date gives the same commits. */
  readonly madeAt?: number;
};

/** `subject` becomes the first line of the merge commit. */
export type Branch = Member & {
  readonly branch: string;
  readonly subject: string;
  /** The commit that is merged, even if the branch has moved; default: the branch's tip. */
  readonly commit?: string;
};

/** `commit` is undefined if no member could be merged. */
export type Candidate = {
  readonly commit: string | undefined;
  readonly members: readonly Member[];
  readonly conflicts: readonly Conflict[];
};

export type Landing = {
  readonly target: string;
  readonly from: string;
  readonly to: string;
  readonly proof: LandingProof;
};

/** What a landing can prove later: which members landed, and the gate's result. It is the text of the note. */
export type LandingProof = {
  readonly run: string;
  readonly members: readonly Member[];
  readonly proof: Proof;
  /** Of a landing on a red target: how each command compares with the target, in one line each. */
  readonly compared?: readonly string[];
  readonly report: GateReport;
  /** Whether the gate was probed: "proved", "not probed: why", "off"; absent in runs of an older Skein. */
  readonly probe?: string;
  /** What the candidate changed of the gate itself, in words. */
  readonly flags: readonly string[];
};

/** `moved`: the target was elsewhere, so nothing was done. */
export type Landed = { readonly is: "landed" } | ({ readonly is: "moved" } & Moved);

/** The commits of these members are no longer in the repository, for example after a `git prune`. Nothing was done. */
export type Gone = { readonly is: "gone"; readonly members: readonly Member[] };
