/** What does a repository ask for beyond the harmless, and who has agreed to it? */
import { hash } from "node:crypto";
import type { Failed } from "../core/result.ts";
import type { Project } from "./project.ts";

/** One thing that a file of the repository asks for. Two with the same `is`, `name` and `value` are the same. */
export type TrustAsk = {
  readonly is: "setting" | "git" | "server" | "role" | "prompt" | "template" | "ignored" | "criterion";
  /** The file that asks. */
  readonly from: string;
  /** The key, the server, the role: what is asked about. */
  readonly name: string;
  /** As plain JSON, without what means nothing: order of keys, comments, another way to write the same. */
  readonly value: unknown;
  /** What would happen, for the person who is asked. */
  readonly words: string;
};

/** For who opens a session and says nothing in it: no server of the repository is started for that. */
export const ONLY_PROMPTS: Agrees = ({ is }) => is === "prompt";

/** Whether a person has agreed to it. Asked with exactly the bytes that are then used. */
export type Agrees = (ask: TrustAsk) => boolean;

/** What a program configures in code, and what runs that were begun before there was trust go on with. */
export const AGREES_TO_ALL: Agrees = () => true;

/** The person's own prompts, which no file of the repository named: agreed to as a whole. */
export const OWN_PROMPTS: TrustAsk = {
  is: "prompt",
  from: "",
  name: "*",
  value: "own",
  words: "your own prompts",
};

/** The same in all files, orders and spellings that ask for the same. */
export const askId = ({ is, name, value }: TrustAsk): string =>
  hash("sha256", canonical([is, name, value]), "hex").slice(0, ID_CHARS);

/** Of the whole set, in any order: what a CI names. */
export const hashOf = (asks: readonly TrustAsk[]): string =>
  hash("sha256", [FORM, ...new Set(asks.map(askId))].sort().join("\n"), "hex").slice(0, ID_CHARS);

export const agreesTo = (ids: Iterable<string>): Agrees => {
  const agreed = new Set(ids);
  return (ask) => agreed.has(askId(ask));
};

/** What was agreed to when it was begun holds for all of a run; an older one keeps what it had. */
export const trustOf = ({ agreed }: { readonly agreed?: readonly string[] }): Agrees =>
  agreed === undefined ? AGREES_TO_ALL : agreesTo(agreed);

/** 160 bits: as hard to find another set for as git's names of commits. */
const ID_CHARS = 40;
/** Changes if the same asks come to mean something else. */
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
  /** Takes everything back; how many agreements there were. */
  revoke(): Promise<number | Failed>;
};

/** A repository of which nobody may have agreed to anything yet. */
export type Untrusted = {
  readonly project: Project;
  readonly store: TrustStore;
  /** Of its own git settings. */
  readonly gitAsks: readonly TrustAsk[];
};

export type TrustParts = {
  readonly open: (folder: string, signal: AbortSignal) => Promise<Untrusted | Failed>;
  /** Of the files at the top, and of the prompts that its configuration names. */
  readonly fileAsks: (top: string, prompts: string | undefined) => Promise<readonly TrustAsk[]>;
  /** The commands of the gate that would be found there. */
  readonly detected: (
    opened: Pick<Untrusted, "gitAsks"> & Pick<Project, "located">,
  ) => Promise<readonly string[]>;
};

/** For an agent that plans. `also`: of git's settings, for this command alone; `agrees`: asked for only if one plans. */
export type PlanAgrees = { readonly also?: Agrees; readonly agrees: () => Promise<Agrees> };
