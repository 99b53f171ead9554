/**
 * Finds out whether a gate command could not be run because something is missing around the tree (a set-up failure).
 *
 * The rules. A tree that is really red must never be taken for a set-up failure, nor the other way round:
 * 1. Exit code 126 or 127: a program could not be started. It counts whatever else was printed, unless the missing
 *    path is inside the tree and the gate's command does not name it: a change of the tree can fix that.
 * 2. If the output names failures, every one of them must say that something is missing. One failure of another
 *    kind makes the tree red.
 * 3. If it names none, no test may have run, and the words must be among the last ones. "Not found" alone must be
 *    the very last: a script may go on after it and fail for another reason.
 * 4. A service or a port counts only if no test passed, or if it is a database or the like, which no tree contains:
 *    a test that fails to talk to a server of its own is red.
 * 5. A package counts if a manifest of the tree names it; a module that no manifest names may be one that is still
 *    to be written. Relative modules and the insides of the tree's own packages are always the tree's.
 * 6. If one import shows that Python loaded the tree's own package from the installed packages, nothing else
 *    counts: another tree was tested.
 */
import { crashesIn } from "./crash.ts";
import { isOfGoModule, type Manifest, namesForJavaScript, namesForPython } from "./named-packages.ts";
import type { ToolReading } from "./read-output.ts";
import { type Sheet, sheetOf } from "./sheet.ts";
import { loadedCopyIn, packagesIn, type SurroundingKind, surroundingIn } from "./surroundings.ts";
import { testCount } from "./test-count.ts";

/** A failed command, as it is judged. */
type Asked = {
  /** The command as a person would type it. */
  readonly command: string;
  readonly code: number;
  readonly files: readonly string[];
  readonly manifests: readonly Manifest[];
};

type Cause = {
  /** What is missing, in a few words. */
  readonly what: string;
  /**
   * `program`: it could not be started. `absent`: the gate names something that is not in the tree. `mistyped`: a
   * tool does not know the option. `service`: nothing answers, or a port is taken; `known-service`: one that no
   * tree contains, such as a database.
   */
  readonly is?: "program" | "absent" | "mistyped" | "service" | "known-service" | SurroundingKind;
};

/** A shape of a line. `say`: the meaning of the first group; undefined if a change of the tree can fix it. */
type Idea = {
  readonly shape: RegExp;
  readonly say: (name: string, asked: Asked) => Cause | undefined;
};

/** Uses `what` with its "$1" replaced by the first group. */
const row = (shape: RegExp, what: string, is?: Cause["is"]): Idea => ({
  shape,
  say: (name) => ({ what: what.replace("$1", () => name), ...(is && { is }) }),
});

const missing = (name: string): Cause => ({ what: `${name} was not found`, is: "program" });

/** A shell or a similar tool could not start a program, and may have gone on after that. */
const PROGRAMS: readonly Idea[] = [
  /^(?:\S{0,200}\/)?[\w.-]{1,60}: (?:line )?\d{1,9}: (\S.{0,200}?): (?:command )?not found$/,
  /^(?:\S{0,200}\/)?[\w.-]{1,60}: (?:line )?\d{1,9}: (\S.{0,200}?): (?:No such file or directory|Permission denied)$/,
  /^\w{0,10}sh: command not found: (\S{1,200})$/,
  /^\w{0,10}sh: (\S{1,200}): command not found$/,
  /^\w{0,20}make(?:\[\d{1,4}\])?: (\S{1,200}): (?:No such file or directory|Permission denied)$/,
  /^(?:\/usr\/bin\/)?env: [‘']?(\S{1,200}?)[’']?: No such file or directory$/,
  /^\W{0,10}(?:ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL\W{1,10})?[Cc]ommand "([^"]{1,200})" not found/,
  /^(?:.{0,20}\b)?[Cc]ommand not found: (\S{1,200})$/,
  /\bspawn (\S{1,200}) ENOENT$/,
].map((shape) => ({ shape, say: program }));

function program(name: string, { command, files }: Asked): Cause | undefined {
  const file = name.replace(/^(?:\.\/)+/, "");
  if (!name.includes("/") || name.startsWith("/") || INSTALLED.test(file)) return missing(name);
  if (files.includes(file))
    return { what: `${file} cannot be started, or the program in its first line`, is: "program" };
  return named(file, command) ? { what: `there is no ${file}`, is: "absent" } : undefined;
}

/** Folders of a package manager, which are not part of a commit. */
const INSTALLED = /(?:^|\/)(?:node_modules|\.venv|venv|vendor\/bin)\//;

const named = (file: string, command: string) =>
  command.split(/[\s"'`;&|()=]+/).some((word) => word.replace(/^(?:\.\/)+|\/+$/g, "") === file);

/** The gate's command names a file that does not exist: it is mistyped, or still to be written. */
const absent = (file: string, { command }: Asked): Cause | undefined =>
  named(file, command) ? { what: `there is no ${file}`, is: "absent" } : undefined;

const unknown = (option: string, { command }: Asked): Cause | undefined =>
  command.split(/[\s"'=]+/).includes(option)
    ? { what: `the option ${option} is not known`, is: "mistyped" }
    : undefined;

const ABSENT: readonly Idea[] = [
  {
    shape:
      /\b(?:bad|unknown|unrecognized|invalid|no such|unexpected) (?:option|argument|flag)s?:? ['"`]?(--?[\w-]{1,80})/i,
    say: unknown,
  },
  { shape: /^\w{0,10}sh: \d{1,9}: [Cc](?:annot|an't) open '?(\S{1,500}?)'?: No such file/, say: absent },
  { shape: /^\w{0,10}sh: (\S{1,500}): No such file or directory$/, say: absent },
  { shape: /can't open file '([^']{1,500})': \[Errno 2\]/, say: absent },
  { shape: /^Could not find '([^']{1,500})'$/, say: absent },
  { shape: /^ERROR: file or directory not found: (\S{1,500})$/, say: absent },
  { shape: /Cannot find module '([^']{1,500})'/, say: absent },
  row(
    /(?:Could not read|Couldn't find a|find|No) [`'"]?(package\.json|Cargo\.toml|go\.mod|makefile)\b[`'"]? ?(?:: Error: ENOENT|file|in|found|or any)/i,
    "there is no $1",
    "absent",
  ),
  row(/^go: (go\.mod) file not found/, "there is no $1", "absent"),
];

const PACKAGES: readonly Idea[] = [
  {
    shape: /\bnpx canceled due to missing packages\b.*?\[(.{1,200})\]/,
    say: (names) => ({ what: `npx lacks ${names.replaceAll('"', "")}` }),
  },
  row(
    /^npm (?:ERR!|error) code (E404|E401|E403|ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|ETARGET|ERESOLVE)$/,
    "npm cannot get its packages ($1)",
  ),
  row(
    /node_modules missing, did you mean to install|(Couldn't find the node_modules state file)/,
    "node_modules is missing",
  ),
  row(
    /\bERR_PNPM_((?:FETCH|META_FETCH|NO_MATCHING|OUTDATED|RESOLVING|VERIFY_DEPS)\w{0,60})/,
    "pnpm cannot use its packages ($1)",
  ),
  // Many tools end their message like this: "Run `bundle install` to install missing gems".
  row(
    /\b[Rr]un [`'"](\w{2,20} (?:install|ci|sync|update|deps\.get))\b/,
    "packages are not installed: $1 was not run",
  ),
  { shape: /(?:Cannot find (?:module|package)|Can't resolve) '([^'./][^']{0,200})'/, say: javascript },
  { shape: /Failed to resolve (?:import|entry for package) "([^"./][^"]{0,200})"/, say: javascript },
  {
    shape: /python[\d.]{0,10}(?:\.exe)?: No module named '?([\w.]{1,200})'?$/,
    say: (name, asked) => (isPythonFile(name, asked) ? undefined : { what: `Python has no module ${name}` }),
  },
  { shape: /No module named '([\w.]{1,200})'/, say: python },
  {
    shape: /: error: unrecognized arguments: (.{1,200})$/,
    say: (options, { code }) =>
      code === 4 ? { what: `a plugin of pytest is missing, that knows ${options}` } : undefined,
  },
  row(/^ERROR: No matching distribution found for (\S{1,200})/, "pip cannot get $1"),
  row(/(No solution found when resolving dependencies)/, "uv cannot resolve the packages"),
  row(/^error: Failed to (fetch|download|prepare)\b/, "packages cannot be fetched"),
  row(/^error: failed to (?:get|load source for dependency) `([^`]{1,200})`/, "cargo cannot get $1"),
  row(/^error: no matching package named `([^`]{1,200})`/, "cargo cannot get $1"),
  { shape: /^error: Failed to spawn: `([^`]{1,200})`/, say: program },
  { shape: /^error: linker `([^`]{1,200})` not found/, say: program },
  { shape: /\bexec: "([^"]{1,200})": executable file not found in /, say: program },
  row(/^error: no such command: `([^`]{1,200})`/, "cargo $1 was not found", "program"),
  {
    shape: /missing go\.sum entry(?: for module providing package (\S{1,300}))?/,
    say: (name) => ({ what: `go cannot get ${name || "a module"}` }),
  },
  { shape: /(?:no required module provides|cannot find module providing) package ([^\s;:]{1,300})/, say: go },
  row(/^(?:\S{1,300}: )?\S{1,300}@v\S{1,300}: (?:Get|reading) .*\b(dial tcp)\b/, "go cannot get its modules"),
  row(/invalid go version '([^']{1,40})'/, "go $1 was not found", "program"),
  row(/go\.mod requires go >= ([\d.]{1,40})/, "go $1 was not found", "program"),
];

/** The tool exists, but not in the version that the tree asks for. */
const TOOL_CHAINS: readonly Idea[] = [
  row(
    /^error: rustup could not choose a version of (\S{1,60}) to run/,
    "rustup has no toolchain to run $1 with",
    "program",
  ),
  row(
    /^error: (?:override )?toolchain '([^']{1,200})' is not installed/,
    "toolchain $1 was not found",
    "program",
  ),
  row(
    /^error: could not (?:create temp|download|write|rename)\b.{1,300}\brustup\/(?:tmp|downloads|toolchains)\//,
    "rustup cannot install the toolchain that the tree asks for",
    "program",
  ),
  row(
    /^(?:Usage Error: |error )?This project is configured to use (\S{1,60}) because\b/,
    "package.json asks for $1 as its package manager",
    "program",
  ),
  row(
    /^(?:error )?This project's package\.json defines "packageManager": "([^"]{1,80})"/,
    "package.json asks for $1 as its package manager",
    "program",
  ),
  row(
    /^\W{0,10}ERR_PNPM_(UNSUPPORTED_ENGINE|BAD_PM_VERSION|OTHER_PM_EXPECTED)\b/,
    "package.json asks for another version of node or pnpm ($1)",
    "program",
  ),
  row(/^pyenv: version [`']([^']{1,60})' is not installed/, "Python $1 was not found", "program"),
];

function javascript(spec: string, { manifests }: Asked): Cause | undefined {
  return namesForJavaScript(spec, manifests)
    ? { what: `the package ${spec} is named in package.json, and not installed` }
    : undefined;
}

/** Of the tree's own packages only the outermost counts: a missing inner module is the tree's fault. */
function python(name: string, asked: Asked): Cause | undefined {
  const [top = "", ...inner] = name.split(".");
  if (isPythonFile(top, asked))
    return inner.length > 0 ? undefined : { what: `the tree's own package ${top} is not installed` };
  return namesForPython(top, asked.manifests)
    ? { what: `the package of the Python module ${name} is not installed` }
    : undefined;
}

/** Whether the tree has the module where Python would find it if it were installed or on the path. */
function isPythonFile(name: string, { files }: Asked): boolean {
  const [top = ""] = name.split(".");
  const roots = ["", "src/", "lib/", "python/"];
  return files.some((file) =>
    roots.some((root) => file === `${root}${top}.py` || file.startsWith(`${root}${top}/`)),
  );
}

function go(path: string, { manifests }: Asked): Cause | undefined {
  return isOfGoModule(path, manifests) ? undefined : { what: `go has no module for ${path}` };
}

/** Ports of databases and similar services, which no tree contains; they are the same everywhere. */
const KNOWN_PORTS = new Set([
  ...["1433", "1521", "2379", "3306", "4222", "5432", "5672"],
  ...["6379", "8086", "9042", "9092", "9200", "11211", "27017"],
]);

const SERVICES: readonly Idea[] = [
  { shape: /ECONNREFUSED (\S{1,200})/, say: refused },
  { shape: /dial tcp (\S{1,200}): connect: connection refused/, say: refused },
  row(/connection to server at "([^"]{1,200})".* failed/, "a service is not there: $1", "known-service"),
  row(/could not connect to server: (Connection refused)/, "a service is not there: $1", "known-service"),
  row(/Can't connect to (?:local )?(MySQL|MariaDB) server/, "a service is not there: $1", "known-service"),
  row(/(Cannot connect to the Docker daemon)/, "a service is not there: $1", "known-service"),
  row(
    /(?:Mongo|Mongoose)\w{0,20}(?:Network|ServerSelection)Error: (.{1,100})/,
    "a service is not there: $1",
    "known-service",
  ),
  {
    shape: /(?:EADDRINUSE|[Aa]ddress already in use)[^\d\n]{0,60}(?:[\w.:[\]]{0,60}:)?(\d{2,5})?/,
    say: (port) => ({ what: `a port that it needs is taken${port ? `: ${port}` : ""}`, is: "service" }),
  },
  row(/(?:ENOTFOUND|EAI_AGAIN|Could not resolve host:?) (\S{1,200})/, "$1 cannot be reached", "service"),
  row(/(Connection refused)/, "a service does not answer", "service"),
];

function refused(address: string): Cause {
  const port = /:(\d{2,5})\b/.exec(address)?.[1] ?? "";
  return {
    what: `nothing answers at ${address.replace(/[,;]$/, "")}`,
    is: KNOWN_PORTS.has(port) ? "known-service" : "service",
  };
}

const SURROUNDINGS: readonly Idea[] = [{ shape: /^([\s\S]{1,4000})/, say: (text) => surroundingIn(text) }];

/** The first match counts: a network error of a package manager is about packages. */
const IDEAS: readonly Idea[] = [
  ...[...TOOL_CHAINS, ...SURROUNDINGS, ...PACKAGES, ...ABSENT],
  ...[...PROGRAMS, ...SERVICES],
];

/** Causes for which a failing test may be at fault itself, if other tests passed. */
const MAY_BE_THE_TESTS: ReadonlySet<Cause["is"]> = new Set(["service", "network", "cache"]);

export type SetupFailure = Cause & {
  /** What the tool wrote about it, in a few lines. */
  readonly words: string;
};

type Ended = Asked & {
  readonly text: string;
  readonly folder?: string;
  readonly reading: ToolReading;
};

export function setupFailureOf(ended: Ended): SetupFailure | undefined {
  const sheet = sheetOf(ended.text, ended.folder, undefined);
  const lines = sheet.lines.filter((line) => line.trim() !== "" && !FRAME.test(line));
  const { notConfigured } = ended.reading;
  if (notConfigured !== undefined) return { what: notConfigured, is: "absent", words: lastOf(lines) };
  if (ended.code === 126 || ended.code === 127) return unstarted(lines, ended);
  const packages = packagesIn(ended.reading.failures);
  if (packages) return { ...packages, words: lastOf(lines) };
  const messages = messagesIn(ended.reading, sheet);
  const copy = installedCopyIn(lines, ended);
  if (copy) return copy;
  if (messages.length > 0) return allThatFailed(messages, lines, ended);
  return beforeAnyTest(lines, ended) ?? afterAllTests(lines);
}

/** Finds an import that shows that an installed copy was tested instead of the tree; one import shows it for all. */
function installedCopyIn(lines: readonly string[], asked: Asked): SetupFailure | undefined {
  for (const [at, line] of lines.entries()) {
    const top = loadedCopyIn(line);
    if (top !== undefined && isPythonFile(top, asked)) {
      const what = `not the tree's own package ${top} is tested, but an installed copy of it`;
      return { what, is: "copy", words: around(lines, at) };
    }
  }
  return undefined;
}

/** All tests passed, and a step after them failed because of something outside of the tree. */
function afterAllTests(lines: readonly string[]): SetupFailure | undefined {
  const count = testCount(lines);
  if (!count || count.tests === 0 || count.passed < count.tests) return undefined;
  const from = Math.max(0, lines.length - MAX_LAST_LINES);
  const at = lines.findIndex((line, i) => i >= from && surroundingIn(line));
  const found = at === -1 ? undefined : surroundingIn(lines[at]!);
  return found && { ...found, words: around(lines, at) };
}

const FRAME = /^(?:# |npm (?:error|ERR!) )?\s{2,20}at /;

function unstarted(lines: readonly string[], ended: Ended): SetupFailure | undefined {
  const at = lines.findLastIndex((line) => PROGRAMS.some(({ shape }) => shape.test(line)));
  if (at === -1) {
    const what = `a program could not be started (exit code ${ended.code})`;
    return { what, is: "program", words: lastOf(lines) };
  }
  const cause = causeIn(lines[at]!, ended, PROGRAMS);
  return cause && { ...cause, words: around(lines, at) };
}

/** The failures' messages. For a test file that did not load, Node says only "test failed": the crash has the reason. */
function messagesIn({ failures }: ToolReading, sheet: Sheet): readonly string[] {
  const said = failures.filter(({ message }) => message !== "test failed");
  const crashes = said.length === failures.length ? [] : crashesIn(sheet);
  const isEnough = crashes.length >= failures.length - said.length;
  return [...said, ...(isEnough ? crashes : failures)].map(({ message }) => message);
}

function beforeAnyTest(lines: readonly string[], ended: Ended): SetupFailure | undefined {
  if ((testCount(lines)?.tests ?? 0) > 0) return undefined;
  const own = lines.filter((line) => !OF_WRAPPERS.test(line));
  const from = Math.max(0, own.length - MAX_LAST_LINES);
  for (const [i, line] of own.slice(from).entries()) {
    const isLast = from + i === own.length - 1;
    const ideas = isLast ? IDEAS : IDEAS.filter((idea) => !PROGRAMS.includes(idea));
    const cause = isTreesOwn(line, lines) ? undefined : causeIn(line, ended, ideas);
    // An unknown runner does not tell how many tests passed.
    const isCounted = cause?.is !== "service" && (isLast || !MAY_BE_THE_TESTS.has(cause?.is));
    if (cause && isCounted) return { ...cause, words: around(own, from + i) };
  }
  return undefined;
}

/** Lines that npm and others add below the output of the program that they ran. */
const OF_WRAPPERS =
  /^(?:npm (?:ERR!|error)(?! (?:code|npx|enoent|notsup|audit))|\s{0,4}(?:ELIFECYCLE|WARN)\b(?!.*node_modules missing)|error Command failed|info Visit|\w{0,20}make(?:\[\d{1,4}\])?: (?:\*\*\*|Leaving))/;
const MAX_LAST_LINES = 20;

/** Whether the line is about a crate that cargo looks for inside the tree. */
const isTreesOwn = (line: string, lines: readonly string[]): boolean =>
  /^error: failed to (?:get|load source)/.test(line) &&
  lines.some((each) => /failed to read `(?![/.]{1,2}\/|\/)[^`]{1,500}`/.test(each));

function allThatFailed(
  messages: readonly string[],
  lines: readonly string[],
  ended: Ended,
): SetupFailure | undefined {
  const hasPassed = (testCount(lines)?.passed ?? 0) > 0;
  let first: SetupFailure | undefined;
  for (const message of messages) {
    const found = MADE_IN_VAIN.test(message) ? unstarted(lines, ended) : causeIn(message, ended, IDEAS);
    if (!found || (MAY_BE_THE_TESTS.has(found.is) && hasPassed)) return undefined;
    const at = lines.findIndex((line) => line.includes(message.split("\n")[0] ?? ""));
    first ??= { ...found, words: at === -1 ? message : around(lines, at) };
  }
  return first;
}

/** make passes on the exit code of a program that could not be started. */
const MADE_IN_VAIN = /\*\*\* \[.*\] Error 12[67]$/;

function causeIn(text: string, asked: Asked, ideas: typeof IDEAS): Cause | undefined {
  for (const { shape, say } of ideas) {
    const match = shape.exec(text);
    const cause = match && say(match[1] ?? "", asked);
    if (cause) return cause;
  }
  return undefined;
}

const around = (lines: readonly string[], at: number) => lines.slice(at, at + 4).join("\n");
const lastOf = (lines: readonly string[]) => lines.slice(-4).join("\n");
