/** Which clauses are one? "Review these files and summarise each" does two things with each file, in one go. */
import type { Clause } from "../reading.ts";
import { deliveredBy, workOf } from "./work.ts";

export function folded(clauses: readonly Clause[]): readonly Clause[] {
  const found: Clause[] = [];
  const places: number[] = [];
  for (const clause of clauses) {
    const before = found.at(-1);
    const one = before && isOfEach(clause) ? together(before, clause) : undefined;
    if (one) found[found.length - 1] = one;
    else {
      const after = [...new Set(clause.after.map((index) => places[index]!))];
      found.push({ ...clause, after });
    }
    places.push(found.length - 1);
  }
  return found;
}

const isOfEach = ({ object, items, files }: Clause) =>
  items.length === 0 &&
  files.length === 0 &&
  /^(?:each|each (?:one|file|of them)|every one(?: of them)?|them|them all|all of them)$/i.test(object);

/** Undefined: what is read is not changed in the same go, and one thing is not each. */
function together(before: Clause, clause: Clause): Clause | undefined {
  const { verb, text } = before;
  const isMany = before.items.length > 1 || before.count !== undefined || before.isUnbounded;
  const isRead = [before, clause].every((one) => deliveredBy(workOf(one)) === "report");
  if (!isMany || !isRead || verb === undefined || clause.verb === undefined) return undefined;
  if (!text.toLowerCase().startsWith(`${verb} `)) return undefined;
  return {
    ...before,
    text: `${text.slice(0, verb.length)} and ${clause.verb}${text.slice(verb.length)}`,
    isUnbounded: before.isUnbounded || clause.isUnbounded,
    context: [...before.context, ...clause.context],
    names: [...new Set([...before.names, ...clause.names])],
  };
}
