/** What is in the repository, and how does the target move there? Nothing here touches a checkout. */
import type { GateReport, Proof } from "../core/gate.ts";
import type { Conflict, Member, Moved } from "../core/job.ts";
import type { Failed } from "../core/result.ts";
import type { Evidence } from "../core/rules/evidence.ts";
import type { Policy } from "../core/rules/policy.ts";

/** None of these throws: what goes wrong is a value. Names are checked, and never read as an option. */
export type Repository = {
  /** What a branch shows: `commit` against the commit that it was made from. */
  evidence(base: string, commit: string, signal: AbortSignal): Promise<Evidence | Failed>;
  /** Merges the members onto a commit, one after the other, in the object database; no branch moves. */
  candidate(wanted: Wanted, signal: AbortSignal): Promise<Candidate | Gone | Failed>;
  /** Leaves the proof as a note on the commit, then moves the target there, if all is there and it is where it was. */
  land(landing: Landing, signal: AbortSignal): Promise<Landed | Gone | Failed>;
  /** A failure if parts of what was landed here are missing, and cannot be written again. */
  whole(target: string, signal: AbortSignal): Promise<Failed | undefined>;
  /** Where the target is, the landings of this run, by their proofs, on the way from `since`, and what it lost. */
  look(target: string, since: string, signal: AbortSignal): Promise<Moved | Failed>;
};

export type Wanted = {
  readonly run: string;
  /** The branch that is to move there: whether it may is asked before the gate runs, and again before it moves. */
  readonly target?: string;
  readonly onto: string;
  readonly strategy: Policy["landing"]["strategy"];
  readonly members: readonly Branch[];
  /** In ms: the date of its commits; now by default. The same request with the same date gets the same commits. */
  readonly madeAt?: number;
};

/** `subject` becomes the first line of the merge commit. */
export type Branch = Member & {
  readonly branch: string;
  readonly subject: string;
  /** What is merged, wherever the branch points by now; without it, what the branch points at. */
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

/** What a landing can show later: who landed, and what the gate said. It is the text of the note. */
export type LandingProof = {
  readonly run: string;
  readonly members: readonly Member[];
  readonly proof: Proof;
  /** Of a landing on a red target: what was compared with it, a line for each command. */
  readonly compared?: readonly string[];
  readonly report: GateReport;
  /** Whether the gate was probed: "proved", "not probed: why", "off"; unknown in runs of an older Skein. */
  readonly probe?: string;
  /** What of the gate itself the candidate changed, in words. */
  readonly flags: readonly string[];
};

/** `moved`: the target was not where it was thought to be, so that nothing was done. */
export type Landed = { readonly is: "landed" } | ({ readonly is: "moved" } & Moved);

/** What these members had handed in is not in the repository any more, for example after a `git prune`. Nothing was done. */
export type Gone = { readonly is: "gone"; readonly members: readonly Member[] };
