/** How does a broken rule show? As an error that names it. */
export class Violation extends Error {}

export function must(holds: boolean, rule: string): void {
  if (!holds) throw new Violation(rule);
}
