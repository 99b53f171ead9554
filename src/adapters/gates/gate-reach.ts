/** Finds what the gate's commands call: scripts of package.json, rules of makefiles, shell scripts, program files. */
import path from "node:path";
import { scriptsOf } from "./package-json.ts";
import { commandsIn, isShellScript, linesOfScript, TOP } from "./shell-script.ts";

/** The text of a file of one tree; undefined if the tree does not have it. */
export type ReadFile = (file: string) => Promise<string | undefined>;

/** A script or rule: its file, and how to find it in the text of that file. */
type Place = { readonly file: string; readonly in: (text: string) => string | undefined };

/**
 * `places`: the scripts and rules that are reached, by a readable name. The rest tells which other files define
 * the gate.
 */
export type GateReach = {
  readonly places: ReadonlyMap<string, Place>;
  readonly programs: ReadonlySet<string>;
  /** Folders in which something is run; "" is the top. */
  readonly folders: ReadonlySet<string>;
  /** Scripts that are run in all packages of the repository. */
  readonly everywhere: ReadonlySet<string>;
  /** All commands that are reached, as one text that names the tools. */
  readonly text: string;
};

/**
 * Follows calls step by step; shell scripts only with `scripts: "follow"`. Programs in other languages are not
 * followed: what `node tools/test.js` imports may be the sources under test.
 */
export async function reachOf(
  commands: readonly (readonly string[])[],
  read: ReadFile,
  { scripts }: { readonly scripts?: "follow" } = {},
): Promise<GateReach> {
  const reach = new Reacher(read, scripts === "follow" ? MAX_SCRIPTS : 0);
  for (const words of commands) await reach.command(words, "");
  return { ...reach, text: reach.called.join("\n") };
}

/** More than a real gate reaches; limits the cost of a malicious one. */
const MAX_STEPS = 2_000;
const MAX_SCRIPTS = 50;

class Reacher {
  readonly places = new Map<string, Place>();
  readonly programs = new Set<string>();
  readonly folders = new Set<string>([""]);
  readonly everywhere = new Set<string>();
  readonly called: string[] = [];
  readonly #read: ReadFile;
  readonly #seen = new Set<string>();
  #steps = 0;
  #scriptsLeft: number;
  /** The script that is being followed, and the folder it was started in. */
  #within: { readonly file: string; readonly from: string } | undefined;

  constructor(read: ReadFile, scripts: number) {
    this.#read = read;
    this.#scriptsLeft = scripts;
  }

  /** Follows a shell line, which may change its folder on the way. */
  async line(text: string, from: string): Promise<void> {
    let folder = from;
    for (const words of commandsIn(text)) {
      if (words[0] === "cd" && words[1] !== undefined) folder = inside(folder, words[1]);
      else await this.command(words, folder);
    }
  }

  async command(all: readonly string[], folder: string): Promise<void> {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS) return;
    const words = withoutWrappers(all);
    const [first = "", ...rest] = words;
    const name = path.posix.basename(first);
    this.called.push(words.join(" "));
    this.folders.add(folder);
    for (const file of optionFiles(name, rest)) await this.#program(file, folder);
    if (/^[^/].*[./]/.test(first)) await this.#program(first, folder);
    if (/^(?:npm|pnpm|yarn|bun)$/.test(name)) await this.#manager(name, rest, folder);
    else if (/^(?:npm-run-all2?|run-s|run-p)$/.test(name))
      for (const script of plain(rest)) await this.#script(script, folder);
    else if (name === "concurrently")
      for (const part of rest)
        if (part.startsWith("npm:")) await this.#script(part.slice("npm:".length), folder);
        else if (part.includes(" ")) await this.line(part, folder);
        else continue;
    else if (/^(?:turbo|lerna|nx|wsrun)$/.test(name))
      for (const word of plain(rest)) this.everywhere.add(word);
    else if (/^g?make$/.test(name)) await this.#make(rest, folder);
    else await this.#interpreter(name, rest, folder);
  }

  async #manager(name: string, args: readonly string[], from: string): Promise<void> {
    const end = args.indexOf("--");
    const own = end === -1 ? args : args.slice(0, end);
    const at = own.findIndex((word) => /^(?:--prefix|-C|--cwd|--dir)$/.test(word));
    const folder = inside(from, own[at + 1] !== undefined && at !== -1 ? own[at + 1]! : ".");
    const isEverywhere = own.some((word) =>
      /^(?:-r|--recursive|-ws?|--workspaces?(?:=.*)?|--filter(?:=.*)?|workspaces?|foreach)$/.test(word),
    );
    const words = plain(at === -1 ? own : own.toSpliced(at, 2));
    const [verb = name === "yarn" ? "install" : "", ...others] = words;
    if (/^(?:exec|x|dlx)$/.test(verb)) return this.command(others, folder);
    const scripts = isEverywhere
      ? words.filter((word) => !/^(?:run|run-script|workspaces?|foreach)$/.test(word))
      : /^(?:run|run-script|rum)$/.test(verb)
        ? others.slice(0, 1)
        : /^(?:ci|install|i)$/.test(verb)
          ? INSTALL
          : [/^(?:t|tst)$/.test(verb) ? "test" : verb];
    for (const script of scripts) {
      if (isEverywhere) this.everywhere.add(script);
      await this.#script(script, folder);
    }
  }

  /** Follows a script with its pre and post scripts; "test:*" means all that match. */
  async #script(name: string, folder: string): Promise<void> {
    const file = inside(folder, "package.json");
    const scripts = scriptsOf((await this.#read(file)) ?? "");
    const names = name.includes("*")
      ? [...scripts.keys()].filter((one) => one.startsWith(name.slice(0, name.indexOf("*"))))
      : [name];
    for (const one of names.flatMap((main) => [`pre${main}`, main, `post${main}`])) {
      const text = scripts.get(one);
      const place = `${file}: the script ${one}`;
      if (text === undefined || this.places.has(place)) continue;
      this.places.set(place, { file, in: (of) => scriptsOf(of).get(one) });
      await this.line(text, folder);
    }
  }

  async #make(args: readonly string[], from: string): Promise<void> {
    const at = args.findIndex((word) => word === "-C" || word === "--directory");
    const folder = at === -1 ? from : inside(from, args[at + 1] ?? ".");
    const targets = plain(at === -1 ? args : args.toSpliced(at, 2)).filter((word) => !word.includes("="));
    const key = `make ${folder} ${targets.join(" ")}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.folders.add(folder);
    for (const name of ["GNUmakefile", "makefile", "Makefile"]) {
      const file = inside(folder, name);
      const text = await this.#read(file);
      if (text === undefined) continue;
      const { reached, includes } = readMakefile(text);
      this.places.set(`${file}: the shell of its rules`, { file, in: (of) => readMakefile(of).shell });
      for (const included of includes) this.programs.add(inside(folder, included));
      for (const { target, recipe } of reached(targets)) {
        this.places.set(`${file}: the rule ${target}`, { file, in: (of) => readMakefile(of).rule(target) });
        for (const line of recipe) await this.line(line.replace(/^[@+\s-]+/, ""), folder);
      }
      return;
    }
  }

  /** Follows "node a.js", "sh -c 'npm test'" or "python -m tools.check", where the first word is not what is run. */
  async #interpreter(name: string, args: readonly string[], folder: string): Promise<void> {
    if (/^(?:\.|source)$/.test(name) && args[0] !== undefined) return this.#program(args[0], folder, "shell");
    if (name === "eval") return this.line(args.join(" "), folder);
    if (SHELLS.test(name)) return this.#shell(args, folder);
    if (!INTERPRETERS.test(name)) return;
    const script = args.find((_, i) => args[i - 1] === "--run");
    if (script !== undefined) return this.#script(script, folder);
    const module = args.indexOf("-m");
    if (module !== -1) {
      const file = (args[module + 1] ?? "").replaceAll(".", "/");
      for (const part of [`${file}.py`, `${file}/__main__.py`]) await this.#program(part, folder);
      return this.command(args.slice(module + 1), folder);
    }
    if (args.some((word) => /^(?:--test|test)$/.test(word))) return; // The arguments are tests.
    const [verb, next] = withoutOptions(name, args);
    const program = verb === "run" ? next : verb;
    if (program !== undefined) await this.#program(program, folder);
  }

  /** Follows "bash -euo pipefail ci.sh", which runs ci.sh, or "sh -c 'npm test'", which runs a line. */
  async #shell(args: readonly string[], folder: string): Promise<void> {
    const own = args.filter((_, i) => !/^[-+]\w*o$/.test(args[i - 1] ?? ""));
    const at = own.findIndex((word) => !/^[-+]/.test(word));
    if (own[at] === undefined) return;
    if (own.slice(0, at).some((word) => /^-\w*c$/.test(word))) return this.line(own[at], folder);
    return this.#program(own[at], folder, "shell");
  }

  /** Adds a file that is run; follows it if it is a shell script. */
  async #program(name: string, folder: string, by?: "shell"): Promise<void> {
    const file = await this.#found(name, folder);
    // A test may run what it tests.
    const [tests = ""] = IN_TESTS.exec(this.#within?.file ?? "") ?? [];
    if (!file.startsWith(tests)) return;
    this.programs.add(file);
    if (this.#scriptsLeft === 0 || this.#seen.has(`script ${file}`)) return;
    const text = await this.#read(file);
    if (text === undefined || (by !== "shell" && !isShellScript(file, text))) return;
    this.#seen.add(`script ${file}`);
    this.#scriptsLeft -= 1;
    const outer = this.#within;
    this.#within = { file, from: folder };
    await this.line(linesOfScript(file, text), folder);
    this.#within = outer;
  }

  /**
   * Not every change of folder in a script is understood. If a file is missing, it is also looked for where the
   * script began.
   */
  async #found(name: string, folder: string): Promise<string> {
    const file = inside(folder, name);
    if (!this.#within || (await this.#read(file)) !== undefined) return file;
    const other = inside(this.#within.from, name);
    return (await this.#read(other)) === undefined ? file : other;
  }
}

const IN_TESTS = /^(?:.*?\/)?(?:tests?|__tests__|specs?|e2e)\//;
const INSTALL = ["preinstall", "install", "postinstall", "prepare"];
const SHELLS = /^(?:ba|da|k|z|fi)?sh$/;
const INTERPRETERS =
  /^(?:(?:ba|da|k|z|fi)?sh|pwsh|node|deno|bun|tsx|ts-node|python[\d.]*|py|ruby|perl|php|lua|Rscript|julia|coverage)$/;

const plain = (words: readonly string[]) => words.filter((word) => !word.startsWith("-"));

/** Words that are neither options nor files of options: "-r ./a.js b.js" runs b.js. */
const withoutOptions = (tool: string, args: readonly string[]): readonly string[] =>
  args.filter((word, i) => !word.startsWith("-") && !isFileOption(tool, args[i - 1] ?? ""));

/** Files of configuration or code that are passed to a tool by an option. */
const optionFiles = (tool: string, args: readonly string[]): readonly string[] =>
  args.flatMap((word, i) => {
    const [option = "", value] = word.split(/=(.*)/s);
    if (value !== undefined) return isFileOption(tool, option) ? [value] : [];
    return isFileOption(tool, args[i - 1] ?? "") ? [word] : [];
  });

const isFileOption = (tool: string, option: string): boolean =>
  FILE_OPTION.test(option) || SHORT_OPTIONS.some(([of, short]) => short === option && of.test(tool));

const FILE_OPTION =
  /^--(?:config|config-file|project|require|import|loader|experimental-loader|rcfile|file|makefile|confcutdir|manifest-path|env-file)$/;

/** A letter means something else for each tool: `cc -c`, `test -f` and `cp -r` name sources. */
const SHORT_OPTIONS = [
  [/^(?:node|bun|tsx|ts-node|mocha|jasmine|ava|tap|tape|electron|ruby|rspec)$/, "-r"],
  [/^(?:py\.?test|tox|jest|vitest|eslint|karma|playwright|cypress|webpack|rollup|golangci-lint)$/, "-c"],
  [/^(?:g?make|just|nox|ninja|rake)$/, "-f"],
  [/^(?:tsc|tsgo|vue-tsc|ts-node|jest|cucumber-js)$/, "-p"],
] as const;

/** Drops wrappers: "CI=1 timeout 60 npx c8 mocha" runs mocha. */
function withoutWrappers(words: readonly string[]): readonly string[] {
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i]!;
    const next = words[i + 1];
    if (/^\w+=/.test(word) || WRAPPERS.test(word)) continue;
    if (/^(?:uv|poetry|pipenv|pdm|hatch|rye)$/.test(word) && next === "run") i += 1;
    else if (word === "bundle" && next === "exec") i += 1;
    else if (i > 0 && (/^-/.test(word) || /^\d+[smh]?$/.test(word))) continue;
    else return words.slice(i);
  }
  return [];
}

const WRAPPERS =
  /^(?:env|cross-env|cross-env-shell|dotenv|exec|command|time|nice|nohup|timeout|gtimeout|xvfb-run|sudo|npx|pnpx|bunx|c8|nyc|!|then|do|if|elif|else|while|until|\{)$/;

/** A normalised path below the top of the tree. A path that leads out of the tree names nothing. */
const inside = (folder: string, file: string): string => {
  const below = `${file}/`.startsWith(TOP) ? ["/", file.slice(TOP.length)] : ["/", folder, file];
  const joined = path.posix.join(...below).slice(1);
  return joined.replace(/\/$/, "");
};

/** `recipe`: the lines that a shell runs. */
type MakeRule = { readonly target: string; readonly recipe: readonly string[] };

type Makefile = {
  /** The rules of these targets and of their prerequisites; without targets, of the first target. */
  readonly reached: (targets: readonly string[]) => readonly MakeRule[];
  /** The text of a rule with variables expanded: prerequisites and recipe. */
  readonly rule: (target: string) => string | undefined;
  /** The shell of recipes, if the makefile names one. */
  readonly shell: string;
  readonly includes: readonly string[];
};

function readMakefile(text: string): Makefile {
  const variables = new Map([["MAKE", "make"]]);
  const rules = new Map<string, { needs: string[]; recipe: string[] }>();
  const includes: string[] = [];
  const special: string[] = [];
  let current: { needs: string[]; recipe: string[] }[] = [];
  for (const line of text.replaceAll(/\\\r?\n/g, " ").split(/\r?\n/)) {
    if (line.startsWith("\t")) {
      for (const rule of current) rule.recipe.push(line.slice(1));
      continue;
    }
    const [, name, value] = ASSIGNMENT.exec(line) ?? [];
    if (name !== undefined) {
      variables.set(name, `${variables.get(name) ?? ""} ${value}`.trim());
      if (/^(?:SHELL|\.SHELLFLAGS|MAKEFLAGS)$/.test(name)) special.push(line);
      continue;
    }
    const [, included] = /^[-s]?include\s+(.*)$/.exec(line) ?? [];
    if (included !== undefined) includes.push(...included.trim().split(/\s+/));
    const colon = line.indexOf(":");
    if (colon < 1 || /^[\s#]/.test(line) || line.slice(0, colon + 3).includes("=")) continue;
    const targets = line.slice(0, colon).trim();
    const [needs = "", ...inline] = line
      .slice(colon + 1)
      .replace(/^:/, "")
      .split(";");
    current = targets.split(/\s+/).map((target) => {
      const rule = rules.get(target) ?? { needs: [], recipe: [] };
      rules.set(target, rule);
      rule.needs.push(needs);
      if (inline.length > 0) rule.recipe.push(inline.join(";"));
      return rule;
    });
    if (/^\.(?:IGNORE|ONESHELL|SILENT|DEFAULT)\b/.test(targets)) special.push(line);
  }
  const first = [...rules.keys()].find((target) => !target.startsWith("."));
  const expand = (line: string) => expanded(line, variables);
  const rule: Makefile["rule"] = (target) => {
    const { needs, recipe } = rules.get(target) ?? {};
    return needs && [...needs, ...(recipe ?? [])].map(expand).join("\n");
  };
  const reached: Makefile["reached"] = (targets) => {
    const wanted = new Set(targets.length > 0 ? targets : first === undefined ? [] : [first]);
    const found: MakeRule[] = [];
    // A set may grow while it is walked, so indirect prerequisites are reached in the same pass.
    for (const target of wanted) {
      const { needs, recipe } = rules.get(target) ?? {};
      if (!needs || !recipe) continue;
      found.push({ target, recipe: recipe.map(expand) });
      for (const need of needs
        .map(expand)
        .join(" ")
        .split(/[\s|]+/))
        if (need !== "") wanted.add(need);
    }
    return found;
  };
  return { reached, rule, shell: special.join("\n"), includes: includes.map(expand) };
}

const ASSIGNMENT = /^(?:(?:export|override)\s+)*([\w.-]+)\s*(?:::?:?|[?+!])?=\s*(.*)$/;

/** Deeper than people nest variables; ends cycles. */
const MAX_DEPTH = 10;

function expanded(line: string, variables: ReadonlyMap<string, string>): string {
  let text = line;
  let left = MAX_CHARS;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const next = text.replaceAll(/\$[({]([\w.-]+)[)}]/g, (whole, name: string) => {
      const value = variables.get(name) ?? whole;
      left -= value.length;
      return left < 0 ? whole : value;
    });
    if (next === text) break;
    text = next;
  }
  return text;
}

/** Limits the length, because variables that double each other grow fast. */
const MAX_CHARS = 100_000;
