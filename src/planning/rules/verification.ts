/** Who shows that all of it holds together? One task at the end, where somebody asked for it or much has changed. */
import type { Surroundings } from "./clause-drafts.ts";
import type { Draft } from "./draft.ts";

/** Large enough that parts which pass alone can fail together. */
const MIN_CHANGES = 2;

/** With the verification that was asked for waiting for all that comes before it; or one more task. */
export function verified(drafts: readonly Draft[], around: Surroundings): readonly Draft[] {
  const { testCommand } = around.facts;
  const criterion = testCommand === undefined ? {} : { criterion: testCommand };
  const isAsked = drafts.some(({ kind }) => kind === "verify");
  if (isAsked) {
    return drafts.map((draft, at) =>
      draft.kind === "verify"
        ? { ...draft, ...criterion, after: [...draft.after, ...changesIn(drafts.slice(0, at))] }
        : draft,
    );
  }
  const changes = changesIn(drafts);
  if (around.minDepth < 3 || changes.length < MIN_CHANGES) return drafts;
  return withCheck(drafts, { ...wholeCheck(around), ...criterion, after: changes });
}

/** What is deployed or published at the end was verified before. */
function withCheck(drafts: readonly Draft[], check: Draft): readonly Draft[] {
  const last = drafts.findLastIndex(({ delivers }) => delivers === "change");
  const rest = drafts.slice(last + 1);
  const waiting = rest.map((draft) =>
    draft.work === "operate" ? { ...draft, after: [...draft.after, check.key] } : draft,
  );
  return [...drafts.slice(0, last + 1), check, ...waiting];
}

const changesIn = (drafts: readonly Draft[]) =>
  drafts.filter(({ delivers, kind }) => delivers === "change" && kind !== "verify").map(({ key }) => key);

function wholeCheck({ facts, constraints, minDepth }: Surroundings): Draft {
  const run = facts.testCommand === undefined ? "Run what tests there are" : `Run \`${facts.testCommand}\``;
  return {
    key: "end",
    kind: "verify",
    work: "verify",
    isImperative: true,
    subject: "Verify that all parts work together",
    description: `${run} and verify that the parts of this plan work together as the request asks.`,
    scope: [],
    reads: [],
    delivers: "report",
    requirements: [
      "Say of each part of the request how it was shown to work, or that it was not.",
      ...constraints,
    ],
    depth: minDepth,
    after: [],
  };
}
