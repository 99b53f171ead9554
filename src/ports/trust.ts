/** Types and ports of trust: what files of a repository ask for beyond the harmless, and what a person agreed to. */
import { hash } from "node:crypto";
import type { Failed } from "../core/result.ts";
import type { Project } from "./project.ts";

/** One thing that a file of the repository asks for. Two asks with equal `is`, `name` and `value` are the same. */
export type TrustAsk = {
  readonly is: "setting" | "git" | "server" | "role" | "prompt" | "template" | "ignored" | "criterion";
  /** The file that asks. */
  readonly from: string;
  /** What is asked about: the key, the server, the role. */
  readonly name: string;
  /** As plain JSON, without differences that mean nothing: order of keys, comments, another notation. */
  readonly value: unknown;
  /** What would happen, for the person who is asked. */
  readonly words: string;
};

/** For callers that open a session and send nothing: no server of the repository is started for that. */
export const ONLY_PROMPTS: Agrees = ({ is }) => is === "prompt";

/** Whether a person has agreed. Called with exactly the bytes that are then used. */
export type Agrees = (ask: TrustAsk) => boolean;

/** For what a program configures in code, and for runs that began before there was trust. */
export const AGREES_TO_ALL: Agrees = () => true;

/** The person's own prompts, which no file of the repository named: agreed to as a whole. */
export const OWN_PROMPTS: TrustAsk = {
  is: "prompt",
  from: "",
  name: "*",
  value: "own",
  words: "your own prompts",
};

/** Equal for asks with the same meaning, in whatever file, order or notation. */
export const askId = ({ is, name, value }: TrustAsk): string =>
  hash("sha256", canonical([is, name, value]), "hex").slice(0, ID_CHARS);

/** The hash of a whole set, in any order, which a CI can name. */
export const hashOf = (asks: readonly TrustAsk[]): string =>
  hash("sha256", [FORM, ...new Set(asks.map(askId))].sort().join("\n"), "hex").slice(0, ID_CHARS);

export const agreesTo = (ids: Iterable<string>): Agrees => {
  const agreed = new Set(ids);
  return (ask) => agreed.has(askId(ask));
};

/** What was agreed to when the run began holds for all of it; a run without a list keeps full rights. */
export const trustOf = ({ agreed }: { readonly agreed?: readonly string[] }): Agrees =>
  agreed === undefined ? AGREES_TO_ALL : agreesTo(agreed);

/** 160 bits: a second set with the same hash is as hard to find as for git's commit ids. */
const ID_CHARS = 40;
/** Changes whenever equal asks get another meaning. */
const FORM = "skein trust 1";

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );

/** Where agreements are kept: outside of the repository. */
export type TrustStore = {
  /** The ids of all that was agreed to; a failure if any of it cannot be read. */
  agreed(): Promise<readonly string[] | Failed>;
  agree(asks: readonly TrustAsk[], by: string): Promise<Failed | undefined>;
  /** Revokes all agreements; returns how many there were. */
  revoke(): Promise<number | Failed>;
};

/** A repository for which no agreement may exist yet. */
export type Untrusted = {
  readonly project: Project;
  readonly store: TrustStore;
  /** What its own git settings ask for. */
  readonly gitAsks: readonly TrustAsk[];
};

export type TrustParts = {
  readonly open: (folder: string, signal: AbortSignal) => Promise<Untrusted | Failed>;
  /** What the files at the top ask for, and the prompts that its configuration names. */
  readonly fileAsks: (top: string, prompts: string | undefined) => Promise<readonly TrustAsk[]>;
  /** The commands of the gate that would be detected there. */
  readonly detected: (
    opened: Pick<Untrusted, "gitAsks"> & Pick<Project, "located">,
  ) => Promise<readonly string[]>;
};

/**
 * For an agent that plans. `also`: git settings that only this command agrees to; `agrees`: called only if an agent
 * plans.
 */
export type PlanAgrees = { readonly also?: Agrees; readonly agrees: () => Promise<Agrees> };
