/** What is known of the repository when a plan is made? Sampled, not read whole; it comes in as data. */

export type RepositoryFacts = {
  /** Paths, sorted, as far as they were listed; at least `filesLeftOut` more are there. */
  readonly files: readonly string[];
  readonly filesLeftOut: number;
  /** Of those files whose size is known. */
  readonly bytes: ReadonlyMap<string, number>;
  /** By their number of files, most first: "TypeScript", "Python". */
  readonly languages: readonly string[];
  /** Folders that hold tests, or files where there are no such folders. */
  readonly tests: readonly string[];
  /** What runs them, if a manifest says so: "npm test". */
  readonly testCommand?: string;
  /** package.json, Cargo.toml, go.mod and the like. */
  readonly manifests: readonly string[];
};

export const NO_FACTS: RepositoryFacts = {
  files: [],
  filesLeftOut: 0,
  bytes: new Map(),
  languages: [],
  tests: [],
  manifests: [],
};
