/** Separates an order from its limits: "each with tests", "in TypeScript", "using 5 agents". */

type Limited = {
  /** The order without its limits. */
  readonly text: string;
  /** The limits for each part, as they were written. */
  readonly limits: readonly string[];
  /** The number of agents, if the order names one. */
  readonly agents?: number;
};

const LANGUAGE =
  "(?:typescript|javascript|python|rust|go|golang|java|kotlin|swift|ruby|php|c|c#|c\\+\\+|elixir|scala|haskell|dart|lua|zig|bash)";
const AGENTS =
  "(?:up to |at most |exactly )?(\\d{1,3}) (?:parallel |concurrent )?(?:agents|workers|subagents)";
const TESTS = "(?:\\w+ ){0,2}tests?";

/** Limits that may follow an order; the first group of the last pattern is the number of agents. */
const TRAILING: readonly RegExp[] = [
  new RegExp(
    `(?:each|all|every one)(?: of (?:them|which))? (?:with|including|having|covered by) (?:(?:its|their) own )?${TESTS}(?: of (?:its|their) own)?$`,
  ),
  new RegExp(
    `(?:and|with|including|plus) ${TESTS}(?: (?:for|of) (?:each|all|every|everything|both)\\b[^,;.]{0,40})?$`,
  ),
  new RegExp(`(?:all |everything )?(?:written )?in (?:plain |idiomatic )?${LANGUAGE}$`),
  /without (?:adding |any |new |changing |touching |breaking )[^,;.]{1,60}$/,
  /(?:all )?in parallel$/,
  new RegExp(`(?:using|with|by|across|among|over|on) ${AGENTS}(?: in parallel)?$`),
].map((pattern) => new RegExp(`(?:,? |^)${pattern.source}`, "i"));

const LEADING = new RegExp(`^(?:using|with) ${AGENTS}, |^in ${LANGUAGE}, `, "i");

/** Returns the text unchanged if it has no limit, or if nothing else would be left. */
export function withoutLimits(written: string): Limited {
  const limits: string[] = [];
  let agents: number | undefined;
  let text = written.trim().replace(/[.!\s]+$/, "");
  const take = (found: RegExpExecArray, at: "start" | "end") => {
    const [words, number] = found;
    // A single worker cannot follow a number of agents, so it is not a limit.
    if (number === undefined && !/in parallel$/i.test(words))
      limits.unshift(words.replace(/^,?\s+|,\s*$/g, ""));
    agents ??= number === undefined ? undefined : Math.max(1, Number(number));
    text = at === "end" ? text.slice(0, found.index) : text.slice(found[0].length);
  };
  const first = LEADING.exec(text);
  if (first) take(first, "start");
  for (let n = 0; n < MAX_LIMITS; n += 1) {
    const found = TRAILING.map((pattern) => pattern.exec(text)).find((one) => one !== null);
    if (!found || found.index < MIN_ORDER_CHARS) break;
    take(found, "end");
  }
  return { text: text.replace(/,$/, ""), limits, ...(agents !== undefined && { agents }) };
}

const MAX_LIMITS = 4;
/** The shortest order: a verb and an object. */
const MIN_ORDER_CHARS = 8;

/** A sentence that is only a limit: "Each with tests.", "Use 5 agents.", "All in TypeScript." */
export function limitAlone(sentence: string): Pick<Limited, "agents"> | undefined {
  const said = sentence
    .trim()
    .replace(/[.!\s]+$/, "")
    .replace(/^(?:please )?use (?=(?:up to |at most )?\d)/i, "using ");
  for (const pattern of TRAILING) {
    const found = pattern.exec(said);
    if (found?.index === 0) return found[1] === undefined ? {} : { agents: Number(found[1]) };
  }
  return undefined;
}
