/** The error that names a broken rule of the simulation. */
export class Violation extends Error {}

export function must(holds: boolean, rule: string): void {
  if (!holds) throw new Violation(rule);
}
