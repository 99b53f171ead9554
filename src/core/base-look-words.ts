/** Formats a look at a failing base: each failed command with its output, the kind of failure, the output file. */
import { plural } from "../text/words.ts";
import type { BaseClass, BaseLook } from "./base-look.ts";

export function baseLookLines({
  class: kind,
  commands,
  failures,
  count,
  output,
}: BaseLook): readonly string[] {
  const told = commands.flatMap(({ name, line, lines, perhaps }) => [
    name === line ? `$ ${line}` : `$ ${line}  (${name})`,
    ...(lines.length === 0 ? ["  (it wrote nothing that says why)"] : lines.map((text) => `  ${text}`)),
    ...(perhaps === undefined ? [] : `Perhaps not the code: ${perhaps}`.split("\n")),
  ]);
  const more = count > failures.length ? ` and ${count - failures.length} more` : "";
  return [
    ...told,
    ...(failures.length === 0 ? [] : [`What fails: ${failures.join(", ")}${more}`]),
    `Kind of failure: ${CLASS_WORDS[kind]}`,
    ...(output === undefined ? [] : [`All of its output: ${output}`]),
  ];
}

/** The look in one line, for lists. */
export const baseLookTitle = ({ class: kind, commands, count }: BaseLook): string => {
  const names = [...new Set(commands.map(({ line }) => line))].join(", ");
  return `the gate fails on the untouched base${names === "" ? "" : `: ${names}`} (${CLASS_WORDS[kind]}; ${plural(count, "failure")})`;
};

/** Shown at the start and at the end of a run. No other message offers to deliver a target whose gate fails. */
export const RED_IS_DELIVERED =
  "a failing target is delivered only with skein deliver --red, and only if all that fails there fails on your branch, too";

const CLASS_WORDS: Readonly<Record<BaseClass, string>> = {
  "conflict-markers": "conflict markers were left in files",
  build: "it does not build",
  types: "types do not fit",
  tests: "tests fail",
  "set-up": "the machine or the set-up, not the code",
  unjudged: "no test is known to have run, so that no change can be judged",
};
