/** Words the notice that the user's branch moved during a run. */
import type { BaseMoved } from "../../app/deliverable.ts";
import { plural, short } from "../../text/words.ts";

export const baseMovedText = ({ branch, commit, commits }: BaseMoved): string =>
  `${branch} has moved to ${short(commit)}, by ${plural(commits, "commit")} that the run has not seen; ` +
  "deliver will merge it and gate the result first";
