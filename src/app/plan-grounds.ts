/** Gathers what a plan is made from besides the request: files of the repository, word lists, limits, specialists. */
import { type Failed, hasFailed } from "../core/result.ts";
import type { Specialist } from "../core/specialist.ts";
import { withBuiltIn } from "../delegation/specialist-table.ts";
import { type PlanningData, readPlanningData } from "../planning/data.ts";
import { factsFrom, NO_FACTS, type RepositoryFacts } from "../planning/facts.ts";
import type { LintFacts } from "../planning/lint.ts";
import type { PlanningFiles, RepositorySample } from "../ports/planning-files.ts";

export type Grounds = {
  /** The work tree around the folder, if there is one. */
  readonly top?: string;
  readonly facts: RepositoryFacts;
  readonly data: PlanningData;
  readonly agents: readonly Specialist[];
  /** What could not be read; the plan states it as an assumption. */
  readonly assumptions: readonly string[];
  /** What is wrong with the user's own specialists, in words. */
  readonly notices: readonly string[];
};

export type GroundsParts = {
  /** The work tree around a folder; undefined in a bare repository, and outside of any. */
  readonly topOf: (folder: string) => string | undefined;
  readonly sample: (folder: string, signal: AbortSignal) => Promise<RepositorySample | Failed>;
  readonly planningFiles: (top: string | undefined) => Promise<PlanningFiles | Failed>;
  readonly specialists: (top: string) => Promise<OwnSpecialists>;
};

type OwnSpecialists = {
  readonly specialists: readonly Specialist[];
  readonly problems: readonly string[];
};

/** `problems`: the repository's own word lists or limits cannot be used. */
export async function groundsOf(
  folder: string,
  parts: GroundsParts,
  signal: AbortSignal,
): Promise<Grounds | Failed | { readonly problems: readonly string[] }> {
  const top = parts.topOf(folder);
  const [sample, files, own] = await Promise.all([
    parts.sample(folder, signal),
    parts.planningFiles(top),
    top === undefined ? { specialists: [], problems: [] } : parts.specialists(top),
  ]);
  if (hasFailed(files)) return files;
  const data = await readPlanningData(files);
  if ("problems" in data) return data;
  return {
    ...(top === undefined ? {} : { top }),
    ...(hasFailed(sample)
      ? { facts: NO_FACTS, assumptions: [unseen(sample.failure.message)] }
      : { facts: factsFrom(sample.entries, sample.testCommand, sample.isCut ? 1 : 0), assumptions: [] }),
    data,
    agents: withBuiltIn(own.specialists),
    notices: own.problems,
  };
}

/**
 * The facts for checking plan files, the same before a run and in `skein plan check`. Paths are checked only if all are
 * known.
 */
export const checkedBy = ({ agents, facts, data }: Grounds): LintFacts => ({
  agents,
  limits: data.limits,
  ...(facts.filesLeftOut === 0 && facts.files.length > 0 && { files: facts.files }),
});

const unseen = (said: string): string =>
  /not a git repository/i.test(said)
    ? "There is no repository here: the plan was made without reading files."
    : /not a valid object name|ambiguous argument/i.test(said)
      ? "Nothing is committed here yet: the plan was made without reading files."
      : `The repository could not be read (${said}): the plan was made without its files.`;
