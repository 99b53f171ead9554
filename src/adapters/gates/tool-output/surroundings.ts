/** Recognises failures that are caused by the machine, the network or a tool's version, and not by the tree. */

/**
 * `tool`: it is too old. `network`: it was refused. `cache`: it cannot be written. `advisory`: a service that
 * lists vulnerable packages failed. `copy`: a package was loaded from where packages are installed, and not from
 * the tree that has it.
 */
const KINDS = ["tool", "network", "cache", "advisory", "packages", "copy"] as const;
export type SurroundingKind = (typeof KINDS)[number];

export const isSurrounding = (kind: string): kind is SurroundingKind => KINDS.some((known) => known === kind);

type Surrounding = { readonly what: string; readonly is: SurroundingKind };

/** Recognises it in one line, or in the message of one failure. */
export function surroundingIn(text: string): Surrounding | undefined {
  for (const [shape, is, say] of SHAPES) {
    const match = shape.exec(text);
    const what = match && say(match.slice(1).map((part) => part ?? ""));
    if (what) return { what, is };
  }
  return undefined;
}

/** Packages of Go's own library that came after Go 1.18, with the first version that has them. */
const NEW_IN_GO: Readonly<Record<string, string>> = {
  ...{ cmp: "1.21", maps: "1.21", slices: "1.21", "log/slog": "1.21", "testing/slogtest": "1.21" },
  ...{ "go/version": "1.22", "math/rand/v2": "1.22", iter: "1.23", structs: "1.23", unique: "1.23" },
  ...{ weak: "1.24", "crypto/mlkem": "1.24", "crypto/sha3": "1.24", "testing/synctest": "1.25" },
};

const tooOld = (tool: string, wanted: string) =>
  `${tool} is too old: ${tool} ${wanted.replace(/^>=\s*/, "")} or newer is wanted`;

type Shape = readonly [
  shape: RegExp,
  is: SurroundingKind,
  say: (parts: readonly string[]) => string | undefined,
];

const SHAPES: readonly Shape[] = [
  [
    /\bpackage (\S{1,200}) is not in (?:GOROOT|std)\b/,
    "tool",
    ([name = ""]) => NEW_IN_GO[name] && `${tooOld("go", NEW_IN_GO[name])} (it has no package ${name})`,
  ],
  [/^note: module requires Go ([\d.]{1,20})$/, "tool", ([wanted = ""]) => tooOld("go", wanted)],
  [/\bgo\.mod requires go >= ([\d.]{1,20})/, "tool", ([wanted = ""]) => tooOld("go", wanted)],
  [
    /\bcannot be built because it requires rustc ([\d.]{1,20})/,
    "tool",
    ([wanted = ""]) => tooOld("rustc", wanted),
  ],
  [/^\s{0,8}\S{1,100} requires rustc ([\d.]{1,20})$/, "tool", ([wanted = ""]) => tooOld("rustc", wanted)],
  [
    /\bfeature `(edition20\d\d)` is required\b/,
    "tool",
    ([edition = ""]) => `cargo is too old: it does not know ${edition}`,
  ],
  [
    /^npm (?:ERR!|error) notsup Required: (\{.{1,200}\})$/,
    "tool",
    ([wanted = ""]) => `this is not the version that package.json asks for: ${wanted}`,
  ],
  [
    /requires a different Python: [\d.]{1,20} not in '([^']{1,60})'/,
    "tool",
    ([wanted = ""]) => `this is not the Python that the project asks for: ${wanted}`,
  ],
  [/^CMake ([\d.]{1,20}) or higher is required\b/, "tool", ([wanted = ""]) => tooOld("cmake", wanted)],
  [
    /^npm (?:ERR!|error|warn|WARN) audit (?:endpoint returned an error|request to|\d{3} )/,
    "advisory",
    () => "the advisory service does not answer (npm audit)",
  ],
  [
    /\/-\/npm\/v1\/security\/(?:advisories|audits)/,
    "advisory",
    () => "the advisory service does not answer (npm audit)",
  ],
  [
    /^error: couldn't fetch advisory database\b|^error fetching advisory database\b/,
    "advisory",
    () => "the advisory database cannot be fetched (cargo audit)",
  ],
  [
    /\b(?:EROFS: read-only file system|EACCES: permission denied), \w{1,20} '(\/[^']{1,400})'/,
    "cache",
    ([place = ""]) => `${place} cannot be written`,
  ],
  [
    /(?:^|[\s:`'"(])(\/[^\s`'":]{1,400})[`'"]?(?:: |, caused by: | ).{0,60}[Rr]ead-only file system/,
    "cache",
    ([place = ""]) => `${place} cannot be written`,
  ],
  [
    /^error: Read-only file system \(os error 30\) at path "(\/[^"]{1,400})"/,
    "cache",
    ([place = ""]) => `${place} cannot be written`,
  ],
  [
    /\b(?:getaddrinfo (?:ENOTFOUND|EAI_AGAIN)|Could not resolve host:?|could not resolve host:?) (\S{1,200})/,
    "network",
    ([host = ""]) => `the network is not there: ${host} cannot be reached`,
  ],
  [
    /\b(ENETUNREACH|Network is unreachable|Temporary failure in name resolution)\b/,
    "network",
    ([word = ""]) => `the network is not there: ${word}`,
  ],
];

/** The package that Python loaded from the installed packages: an older one, or a copy of the tree's own. */
export const loadedCopyIn = (line: string): string | undefined => FROM_A_COPY.exec(line)?.[1];

const FROM_A_COPY =
  /^(?:E\s{1,8})?ImportError: cannot import name '[^']{1,200}' from '(\w{1,100})[^']{0,200}' \(\/\S{0,400}\/(?:site|dist)-packages\/\S{1,400}\)$/;

/** Set if all failures are in installed packages, which no change of the tree can fix. */
export function packagesIn(
  failures: readonly { readonly name: string; readonly files: readonly string[] }[],
) {
  const isInside = ({ name, files }: (typeof failures)[number]) =>
    INSTALLED.test(files[0] ?? name.slice(0, MAX_NAME_CHARS));
  if (failures.length === 0 || !failures.every(isInside)) return undefined;
  const many = failures.length === 1 ? "the only error is" : `all ${failures.length} errors are`;
  return { what: `${many} inside installed packages (node_modules)`, is: "packages" as const };
}

const INSTALLED = /(?:^|\/)node_modules\//;
const MAX_NAME_CHARS = 1_000;

/** The lines of skein.yaml to choose from. */
export function settingFor(is: SurroundingKind, command: string): string {
  const gate = `gate:\n  - <the command that runs your tests>`;
  switch (is) {
    case "tool":
      return `install that version where Skein runs, or let each workspace do so, in skein.yaml:\nworkspace:\n  setup: <the command that installs it>\nor name another gate:\n${gate}`;
    case "network":
      return `let the gate use the network, in skein.yaml:\nnetwork: true\nor name a gate that needs none:\n${gate}`;
    case "cache":
      return `let the command use a folder that it may write, in skein.yaml:\ngate:\n  - name: ${JSON.stringify(command.slice(0, 60))}\n    run: ${JSON.stringify(command)}\n    env: { <the variable of that cache>: /tmp/cache }`;
    case "copy":
      return `let the tests load what the tree has, in skein.yaml, by the folder that the package is in:\ngate:\n  - name: ${JSON.stringify(command.slice(0, 60))}\n    run: ${JSON.stringify(command)}\n    env: { PYTHONPATH: src }\nor let each workspace install it:\nworkspace:\n  setup: <such as python3 -m venv .venv && .venv/bin/pip install --editable .>`;
    case "advisory":
      return `name a gate without it, in skein.yaml, since its answer depends on the day and not on the tree:\n${gate}`;
    case "packages":
      return "let each workspace install what the lock file says, in skein.yaml:\nworkspace:\n  setup: npm ci\nor leave installed packages out of the check (for tsc: skipLibCheck in tsconfig.json)";
  }
}
