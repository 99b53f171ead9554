/** The target of a run and its proofs on the remote: fetched before they are looked at, moved by compare-and-swap. */
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { SharedMove, SharedTarget } from "../../ports/shared-target.ts";
import { listRefs } from "../git/refs.ts";
import { proofsOf, refOf } from "../repositories/names.ts";
import type { GitRemote } from "./remote.ts";

type RemoteTargetOptions = {
  readonly gitDir: string;
  readonly remote: GitRemote;
  readonly run: string;
};

export class RemoteTarget implements SharedTarget {
  readonly #options: RemoteTargetOptions;
  /** Where the proofs were on the remote when they were last seen there; "" for nowhere. */
  #proofs = "";
  /** Where the target was; undefined before it was seen. */
  #tip: string | undefined;

  constructor(options: RemoteTargetOptions) {
    this.#options = options;
  }

  /** A commit that the remote's target has, so that its ancestors need not be sent. */
  get tip(): string | undefined {
    return this.#tip;
  }

  async fetch(target: string, signal: AbortSignal): Promise<Failed | undefined> {
    const { gitDir, remote, run } = this.#options;
    const refs = [refOf(target), proofsOf(run)];
    const there = await remote.list(refs, signal);
    if (hasFailed(there)) return there;
    const here = await listRefs(
      { folder: gitDir, patterns: refs, fields: ["refname", "objectname"] },
      signal,
    );
    if (hasFailed(here)) return here;
    const known = new Map(here.map(([ref = "", id = ""]) => [ref, id]));
    if (!there.has(refOf(target))) return lost(target, known.get(refOf(target)));
    const changed = refs.filter((ref) => there.has(ref) && there.get(ref) !== known.get(ref));
    const failed =
      changed.length > 0 &&
      (await remote.fetch(
        changed.map((ref) => ({ from: ref, to: ref })),
        { isStrict: true },
        signal,
      ));
    if (failed) return failed;
    this.#proofs = there.get(proofsOf(run)) ?? "";
    this.#tip = there.get(refOf(target));
    return undefined;
  }

  async move(
    { target, from, to, proofs }: SharedMove,
    signal: AbortSignal,
  ): Promise<"moved" | "done" | Failed> {
    const { remote, run } = this.#options;
    const pushed = await remote.push(
      [
        { ref: proofsOf(run), to: proofs, expected: this.#proofs },
        { ref: refOf(target), to, expected: from },
      ],
      signal,
    );
    if (pushed !== "pushed") return pushed;
    this.#proofs = proofs;
    this.#tip = to;
    return "done";
  }

  /** At the start of a run. `elsewhere`: there is one already that has moved on. */
  async make(target: string, base: string, signal: AbortSignal): Promise<"made" | "elsewhere" | Failed> {
    const pushed = await this.#options.remote.push([{ ref: refOf(target), to: base, expected: "" }], signal);
    if (pushed === "pushed") this.#tip = base;
    return pushed === "pushed" ? "made" : pushed === "moved" ? "elsewhere" : pushed;
  }
}

const lost = (target: string, known: string | undefined): Failed =>
  failedWith(
    "repository",
    `the branch ${target} is not on the remote: it was deleted or renamed`,
    known === undefined ? undefined : `put it back: git push <remote> ${known}:${refOf(target)}`,
  );
