/** The facts about the repository that a plan is made from: sampled, not read whole, and passed in as data. */
export type RepositoryFacts = {
  /** The listed paths, sorted; at least `filesLeftOut` more exist. */
  readonly files: readonly string[];
  readonly filesLeftOut: number;
  /** The sizes of the files whose size is known. */
  readonly bytes: ReadonlyMap<string, number>;
  /** By their number of files, most first: "TypeScript", "Python". */
  readonly languages: readonly string[];
  /** Folders with tests, or test files where there are no such folders. */
  readonly tests: readonly string[];
  /** The command that runs the tests, as a gate would detect it: "npm run test". */
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

type Entry = { readonly path: string; readonly bytes?: number };

/** `leftOut`: the least number of files that were not listed. */
export function factsFrom(entries: readonly Entry[], testCommand?: string, leftOut = 0): RepositoryFacts {
  const files = entries.map(({ path }) => path).sort();
  const own = files.filter((path) => !isForeign(path));
  return {
    files,
    filesLeftOut: leftOut,
    bytes: new Map(entries.flatMap(({ path, bytes }) => (bytes === undefined ? [] : [[path, bytes]]))),
    languages: languagesOf(own),
    tests: testsOf(own),
    ...(testCommand === undefined ? {} : { testCommand }),
    manifests: own.filter(isManifest).slice(0, MAX_LISTED),
  };
}

const MAX_LISTED = 50;

const MANIFESTS: ReadonlySet<string> = new Set([
  ...["package.json", "deno.json", "deno.jsonc", "Cargo.toml", "go.mod", "pyproject.toml", "setup.py"],
  ...["requirements.txt", "Pipfile", "Gemfile", "composer.json", "pom.xml", "build.gradle", "mix.exs"],
  ...["build.gradle.kts", "build.sbt", "Package.swift", "pubspec.yaml", "CMakeLists.txt", "meson.build"],
  ...["Makefile", "GNUmakefile", "makefile", "Dockerfile", "stack.yaml", "rebar.config", "Project.toml"],
]);

const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);

const isManifest = (path: string) =>
  MANIFESTS.has(nameOf(path)) || /\.(?:csproj|fsproj|sln|gemspec|cabal)$/.test(path);

/** Vendored code is not the project's own. */
const isForeign = (path: string) => /(?:^|\/)(?:node_modules|vendor|third_party)\//.test(path);

const LANGUAGES: Readonly<Record<string, string>> = {
  ...named("TypeScript", "ts tsx mts cts"),
  ...named("JavaScript", "js jsx mjs cjs"),
  ...named("Python", "py pyi"),
  ...named("C", "c h"),
  ...named("C++", "cc cpp cxx hpp hh hxx"),
  ...named("C#", "cs"),
  ...named("Ruby", "rb"),
  ...named("Rust", "rs"),
  ...named("Go", "go"),
  ...named("Java", "java"),
  ...named("Kotlin", "kt kts"),
  ...named("Scala", "scala"),
  ...named("Swift", "swift"),
  ...named("PHP", "php"),
  ...named("Elixir", "ex exs"),
  ...named("Erlang", "erl"),
  ...named("Haskell", "hs"),
  ...named("Dart", "dart"),
  ...named("Lua", "lua"),
  ...named("Perl", "pl pm"),
  ...named("R", "r"),
  ...named("Julia", "jl"),
  ...named("Zig", "zig"),
  ...named("Shell", "sh bash zsh"),
  ...named("SQL", "sql"),
  ...named("HTML", "html htm"),
  ...named("CSS", "css scss sass less"),
  ...named("Vue", "vue"),
  ...named("Svelte", "svelte"),
};

function named(language: string, endings: string): Readonly<Record<string, string>> {
  return Object.fromEntries(endings.split(" ").map((ending) => [ending, language]));
}

function languagesOf(files: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const path of files) {
    const name = nameOf(path);
    const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
    const language = Object.hasOwn(LANGUAGES, ending) ? LANGUAGES[ending] : undefined;
    if (language === undefined || ending === name.toLowerCase()) continue;
    counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([language]) => language);
}

/** A quick test before the slower pattern, which tries folder by folder. */
const MAY_BE_TEST = /(?:test|spec|e2e)/i;
/** The topmost test folder with the folders above it, because the pattern takes as few folders as it can. */
const TEST_FOLDER = /^(?:[^/]+\/)*?(?:tests?|__tests__|specs?|e2e)\//i;
const TEST_FILE =
  /(?:^test_[^/]*\.py|_test\.(?:go|py|exs|dart)|[._-](?:test|spec)s?\.\w+|(?:Test|Tests|Spec)\.\w+)$/;

/** The topmost test folders by name; without any, the files that are named like tests. */
function testsOf(files: readonly string[]): readonly string[] {
  const folders = new Set<string>();
  for (const path of files) {
    const folder = MAY_BE_TEST.test(path) ? TEST_FOLDER.exec(path)?.[0] : undefined;
    if (folder !== undefined) folders.add(folder);
  }
  if (folders.size > 0) return [...folders].sort().slice(0, MAX_LISTED);
  return files.filter((path) => TEST_FILE.test(nameOf(path))).slice(0, MAX_LISTED);
}
