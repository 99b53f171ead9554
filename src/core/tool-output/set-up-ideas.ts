/** In which words do tools say that a program, a package or a service is missing, and when is that the tree's own fault? */
import { isOfGoModule, type Manifest, namesForJavaScript, namesForPython } from "./named-packages.ts";

/** What a command was run on. */
export type Asked = {
  /** As a person would type it. */
  readonly command: string;
  readonly code: number;
  /** The files of the tree. */
  readonly files: readonly string[];
  readonly manifests: readonly Manifest[];
};

export type Cause = {
  /** What is missing, in a few words. */
  readonly what: string;
  /**
   * `program`: one that could not be started. `absent`: the gate names something that is not in the tree. `mistyped`: it
   * gives a tool what that does not know. `service`: nothing answers, or a port is taken; `known` where it is one that
   * no tree has in itself, such as a database.
   */
  readonly is?: "program" | "absent" | "mistyped" | "service" | "known-service";
};

/** `say`: what its first group means here; undefined where whoever changes the tree can mend it. */
export type Idea = {
  readonly shape: RegExp;
  readonly say: (name: string, asked: Asked) => Cause | undefined;
};

const missing = (name: string): Cause => ({ what: `${name} was not found`, is: "program" });
const always = (what: string) => (): Cause => ({ what });

/** A shell, or a tool that does as a shell does, could not start a program; it may have gone on after that. */
export const PROGRAMS: readonly Idea[] = [
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

/** What a package manager puts there, not a commit. */
const INSTALLED = /(?:^|\/)(?:node_modules|\.venv|venv|vendor\/bin)\//;

const named = (file: string, command: string) =>
  command.split(/[\s"'`;&|()=]+/).some((word) => word.replace(/^(?:\.\/)+|\/+$/g, "") === file);

/** The command of the gate names a file that is not there: mistyped, or still to be written. */
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
  {
    shape:
      /(?:Could not read|Couldn't find a|find|No) [`'"]?(package\.json|Cargo\.toml|go\.mod|makefile)\b[`'"]? ?(?:: Error: ENOENT|file|in|found|or any)/i,
    say: (file) => ({ what: `there is no ${file}`, is: "absent" }),
  },
  {
    shape: /^go: (go\.mod) file not found/,
    say: (file) => ({ what: `there is no ${file}`, is: "absent" }),
  },
];

const PACKAGES: readonly Idea[] = [
  {
    shape: /\bnpx canceled due to missing packages\b.*?\[(.{1,200})\]/,
    say: (names) => ({ what: `npx lacks ${names.replaceAll('"', "")}` }),
  },
  {
    shape:
      /^npm (?:ERR!|error) code (E404|E401|E403|ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|ETARGET|ERESOLVE)$/,
    say: (code) => ({ what: `npm cannot get its packages (${code})` }),
  },
  {
    shape: /node_modules missing, did you mean to install|(Couldn't find the node_modules state file)/,
    say: always("node_modules is missing"),
  },
  {
    shape: /\bERR_PNPM_((?:FETCH|META_FETCH|NO_MATCHING|OUTDATED|RESOLVING|VERIFY_DEPS)\w{0,60})/,
    say: pnpm,
  },
  {
    // How many tools end: "Run `bundle install` to install missing gems".
    shape: /\b[Rr]un [`'"](\w{2,20} (?:install|ci|sync|update|deps\.get))\b/,
    say: (command) => ({ what: `packages are not installed: ${command} was not run` }),
  },
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
  {
    shape: /^ERROR: No matching distribution found for (\S{1,200})/,
    say: (name) => ({ what: `pip cannot get ${name}` }),
  },
  { shape: /(No solution found when resolving dependencies)/, say: always("uv cannot resolve the packages") },
  { shape: /^error: Failed to (fetch|download|prepare)\b/, say: always("packages cannot be fetched") },
  {
    shape: /^error: failed to (?:get|load source for dependency) `([^`]{1,200})`/,
    say: (name) => ({ what: `cargo cannot get ${name}` }),
  },
  {
    shape: /^error: no matching package named `([^`]{1,200})`/,
    say: (name) => ({ what: `cargo cannot get ${name}` }),
  },
  { shape: /^error: Failed to spawn: `([^`]{1,200})`/, say: program },
  { shape: /^error: linker `([^`]{1,200})` not found/, say: program },
  { shape: /\bexec: "([^"]{1,200})": executable file not found in /, say: program },
  { shape: /^error: no such command: `([^`]{1,200})`/, say: (name) => missing(`cargo ${name}`) },
  {
    shape: /missing go\.sum entry(?: for module providing package (\S{1,300}))?/,
    say: (name) => ({ what: `go cannot get ${name || "a module"}` }),
  },
  { shape: /(?:no required module provides|cannot find module providing) package ([^\s;:]{1,300})/, say: go },
  {
    shape: /^(?:\S{1,300}: )?\S{1,300}@v\S{1,300}: (?:Get|reading) .*\b(dial tcp)\b/,
    say: always("go cannot get its modules"),
  },
  { shape: /invalid go version '([^']{1,40})'/, say: (version) => missing(`go ${version}`) },
  { shape: /go\.mod requires go >= ([\d.]{1,40})/, say: (version) => missing(`go ${version}`) },
];

/** The tool is there, and not in a version that the tree may be run with. */
const TOOL_CHAINS: readonly Idea[] = [
  {
    shape: /^error: rustup could not choose a version of (\S{1,60}) to run/,
    say: (name) => ({ what: `rustup has no toolchain to run ${name} with`, is: "program" }),
  },
  {
    shape: /^error: (?:override )?toolchain '([^']{1,200})' is not installed/,
    say: (name) => missing(`toolchain ${name}`),
  },
  {
    shape:
      /^error: could not (?:create temp|download|write|rename)\b.{1,300}\brustup\/(?:tmp|downloads|toolchains)\//,
    say: () => ({ what: "rustup cannot install the toolchain that the tree asks for", is: "program" }),
  },
  {
    shape: /^npm (?:ERR!|error) code (EBADENGINE)$/,
    say: () => ({ what: "this is not the version of node or npm that package.json asks for", is: "program" }),
  },
  {
    shape: /^(?:Usage Error: |error )?This project is configured to use (\S{1,60}) because\b/,
    say: (name) => ({ what: `package.json asks for ${name} as its package manager`, is: "program" }),
  },
  {
    shape: /^(?:error )?This project's package\.json defines "packageManager": "([^"]{1,80})"/,
    say: (name) => ({ what: `package.json asks for ${name} as its package manager`, is: "program" }),
  },
  {
    shape: /^\W{0,10}ERR_PNPM_(UNSUPPORTED_ENGINE|BAD_PM_VERSION|OTHER_PM_EXPECTED)\b/,
    say: (code) => ({
      what: `package.json asks for another version of node or pnpm (${code})`,
      is: "program",
    }),
  },
  {
    shape: /^pyenv: version [`']([^']{1,60})' is not installed/,
    say: (version) => missing(`Python ${version}`),
  },
];

function pnpm(code: string): Cause {
  return { what: `pnpm cannot use its packages (${code})` };
}

function javascript(spec: string, { manifests }: Asked): Cause | undefined {
  return namesForJavaScript(spec, manifests)
    ? { what: `the package ${spec} is named in package.json, and not installed` }
    : undefined;
}

/** Of the tree's own packages only the outermost: what is missing inside of one is the tree's fault. */
function python(name: string, asked: Asked): Cause | undefined {
  const [top = "", ...inner] = name.split(".");
  if (isPythonFile(top, asked))
    return inner.length > 0 ? undefined : { what: `the tree's own package ${top} is not installed` };
  return namesForPython(top, asked.manifests)
    ? { what: `the package of the Python module ${name} is not installed` }
    : undefined;
}

/** Where Python would find it, were it installed or on the path. */
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

/** Databases and the like: no tree has them in itself, and their ports are the same everywhere. */
const KNOWN_PORTS = new Set([
  "1433",
  "1521",
  "2379",
  "3306",
  "4222",
  "5432",
  "5672",
  "6379",
  "8086",
  "9042",
  "9092",
  "9200",
  "11211",
  "27017",
]);

const SERVICES: readonly Idea[] = [
  { shape: /ECONNREFUSED (\S{1,200})/, say: refused },
  { shape: /dial tcp (\S{1,200}): connect: connection refused/, say: refused },
  { shape: /connection to server at "([^"]{1,200})".* failed/, say: database },
  { shape: /could not connect to server: (Connection refused)/, say: database },
  { shape: /Can't connect to (?:local )?(MySQL|MariaDB) server/, say: database },
  { shape: /(Cannot connect to the Docker daemon)/, say: database },
  { shape: /(?:Mongo|Mongoose)\w{0,20}(?:Network|ServerSelection)Error: (.{1,100})/, say: database },
  {
    shape: /(?:EADDRINUSE|[Aa]ddress already in use)[^\d\n]{0,60}(?:[\w.:[\]]{0,60}:)?(\d{2,5})?/,
    say: (port) => ({ what: `a port that it needs is taken${port ? `: ${port}` : ""}`, is: "service" }),
  },
  {
    shape: /(?:ENOTFOUND|EAI_AGAIN|Could not resolve host:?) (\S{1,200})/,
    say: (host) => ({ what: `${host} cannot be reached`, is: "service" }),
  },
  { shape: /(Connection refused)/, say: () => ({ what: "a service does not answer", is: "service" }) },
];

function refused(address: string): Cause {
  const port = /:(\d{2,5})\b/.exec(address)?.[1] ?? "";
  return {
    what: `nothing answers at ${address.replace(/[,;]$/, "")}`,
    is: KNOWN_PORTS.has(port) ? "known-service" : "service",
  };
}

function database(name: string): Cause {
  return { what: `a service is not there: ${name}`, is: "known-service" };
}

/** The first that fits counts: what a package manager says about the network is about packages. */
export const IDEAS: readonly Idea[] = [...TOOL_CHAINS, ...PACKAGES, ...ABSENT, ...PROGRAMS, ...SERVICES];
