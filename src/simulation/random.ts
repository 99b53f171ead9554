/** A seeded random generator: the same seed gives the same sequence. */

export type Random = {
  /** In [0, 1). */
  next(): number;
  /** A whole number in [0, below). */
  below(below: number): number;
  /** A whole number in [from, to]. */
  between(from: number, to: number): number;
  chance(p: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** Logarithmic: as likely between 1 and 10 as between 10 and 100, like the durations of real work. */
  spread(from: number, to: number): number;
};

/** A Weyl sequence with a mixing step of multiplications and shifts; 32 bits are enough for a simulation. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    mixed ^= mixed >>> 15;
    return (mixed >>> 0) / 2 ** 32;
  };
  const below = (n: number) => Math.floor(next() * n);
  return {
    next,
    below,
    between: (from, to) => from + below(to - from + 1),
    chance: (p) => next() < p,
    pick: (items) => items[below(items.length)]!,
    spread: (from, to) => Math.round(from * (to / from) ** next()),
  };
}

/** A seed for a named part of a simulation, independent of the order in which the parts run. */
export function seedFor(seed: number, name: string): number {
  let hash = (seed ^ 0x811c9dc5) >>> 0;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}
