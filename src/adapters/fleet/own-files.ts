/** Tells which files of a run belong to one job: a worker may write only these. */
import type { JobOffer } from "../../ports/fleet-jobs.ts";
import { fileName } from "../agents/turn-files.ts";

/**
 * As a regular expression that means the same to Postgres and to JavaScript. A gate's files are those of its
 * landing or check.
 */
export function ownFiles({ job, what }: Pick<JobOffer, "job" | "what">): string {
  const of = what.is === "brief" ? job : what.tree.job;
  const file = literal(fileName(of));
  // As transcripts are named: a suffix for what was cut, and for which of several outputs it is, follows.
  const transcript = literal(of.replace(/[^A-Za-z0-9._-]/g, "_").slice(0, MAX_NAME_CHARS));
  const output =
    what.is === "brief" && what.brief.kind === "work" ? what.brief.spec.terms?.output : undefined;
  const conversation = what.is === "brief" && what.brief.kind === "plan" ? what.brief.transcript : of;
  return `^(?:${[
    `transcripts/${transcript}[._-][^/]*`,
    `turns/${file}[./][^/]+`,
    `gates/${file}[.]jsonl`,
    `conversations/${literal(fileName(conversation))}[.]jsonl`,
    "artefacts/[0-9a-f]{16}[.]txt",
    ...(output === undefined ? [] : [`scratchpad/${literal(output)}`]),
  ].join("|")})$`;
}

/** Postgres and JavaScript both read a backslash before an ASCII punctuation mark as that mark. */
const literal = (text: string): string => text.replace(/[!-/:-@[-^`{-~]/g, "\\$&");

/** The length of the readable part of a transcript's name. */
const MAX_NAME_CHARS = 80;
