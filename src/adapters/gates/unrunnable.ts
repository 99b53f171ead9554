/** Decides whether a gate command could not be run, or had nothing to run, by its output and the files of the tree. */

import { type Failure, failure } from "../../core/failure.ts";
import { hasFailed } from "../../core/result.ts";
import type { GatedTree } from "../../ports/gate.ts";
import { closest } from "../../text/closest.ts";
import { git } from "../git/git.ts";
import { listFiles } from "../git/trees.ts";
import { isTestFile } from "../repositories/test-files.ts";
import { scriptsOf } from "./package-json.ts";
import { proposeSetup, yamlOf } from "./propose-setup.ts";
import { textInside } from "./tested-files.ts";
import { isManifest, type Manifest } from "./tool-output/named-packages.ts";
import { perhapsNotTheTree } from "./tool-output/perhaps.ts";
import { readOutput } from "./tool-output/read-output.ts";
import { type SetupFailure, setupFailureOf } from "./tool-output/set-up.ts";
import { sheetOf } from "./tool-output/sheet.ts";
import { isSurrounding, settingFor } from "./tool-output/surroundings.ts";
import { testCount } from "./tool-output/test-count.ts";
import { type TestList, testList } from "./tool-output/test-list.ts";

type EndedCommand = {
  /** The command as a person would type it, without secrets. */
  readonly line: string;
  readonly code: number;
  /** All its output, without secrets. */
  readonly text: string;
  readonly folder: string;
};

export type Runnable =
  /** Its result counts. `tests`: how many ran, if the runner reports it. */
  | {
      readonly is: "ran";
      readonly tests: number | undefined;
      readonly list?: TestList;
      /** Set if it fails: what besides the tree may be the reason. */
      readonly perhaps?: string;
    }
  /** The tree has no tests yet. */
  | { readonly is: "nothing-yet" }
  /** `isSilent`: it passed without running any of the existing tests. */
  | { readonly is: "unrunnable"; readonly what: string; readonly failure: Failure; readonly isSilent?: true };

export async function whyUnrunnable(
  ended: EndedCommand,
  repository: string,
  tree: GatedTree,
  signal: AbortSignal,
): Promise<Runnable> {
  const { lines } = sheetOf(ended.text, ended.folder, undefined);
  const count = testCount(lines);
  const ran: Runnable = { is: "ran", tests: count?.tests, ...(count && { list: testList(lines, count) }) };
  if (ended.code === 0 && count?.tests !== 0) return ran;
  const files = await filesOf(repository, tree, signal);
  if (files === undefined) return ran; // Without files, only the exit code counts.
  const manifests = await manifestsIn(ended.folder, files.own);
  const failed = (found: SetupFailure) => failureOf(ended, found, tree, { files: files.own, manifests });
  const perhaps =
    ended.code === 0
      ? undefined
      : perhapsNotTheTree({ line: ended.line, text: ended.text, files: files.own, manifests });
  const reading = ended.code === 0 ? undefined : readOutput({ text: ended.text, folder: ended.folder });
  const found =
    reading && setupFailureOf({ ...ended, command: ended.line, files: files.own, manifests, reading });
  if (found?.is === "absent" && files.tests.length === 0) {
    const name = absentIn(found.what);
    const near = closest(name, await namesNear(name, files.own, manifests, ended.folder));
    if (near.length === 0 && !(await wasThere(repository, name, tree, signal))) return { is: "nothing-yet" };
    const what = near.length === 0 ? found.what : `${found.what}; did you mean ${near.join(" or ")}?`;
    return { is: "unrunnable", what, failure: failed({ ...found, what }) };
  }
  if (found) return { is: "unrunnable", what: found.what, failure: failed(found) };
  if (count?.tests !== 0 || (reading && reading.failures.length > 0))
    return { ...ran, ...(perhaps !== undefined && { perhaps }) };
  const { endings } = count;
  if (!files.tests.some((file) => endings.test(file))) return { is: "nothing-yet" };
  const what = "no test was collected, although there are test files";
  const words = lines
    .filter((line) => line.trim() !== "")
    .slice(-4)
    .join("\n");
  const why = failed({ what, words, is: "absent" });
  return { is: "unrunnable", what, failure: why, ...(ended.code === 0 && { isSilent: true }) };
}

type TreeFiles = {
  readonly own: readonly string[];
  /** Also those of the tree that the gate comes from, because a change that deletes all tests must not pass. */
  readonly tests: readonly string[];
};

/** Undefined if git fails. */
async function filesOf(
  repository: string,
  tree: GatedTree,
  signal: AbortSignal,
): Promise<TreeFiles | undefined> {
  const own = await listed(repository, tree.commit, signal);
  const others = before(tree) === tree.commit ? own : await listed(repository, before(tree), signal);
  if (own === undefined || others === undefined) return undefined;
  return { own, tests: [...own, ...others].filter(isTestFile) };
}

const before = ({ from, rules }: GatedTree): string => from ?? rules;

async function listed(folder: string, commit: string, signal: AbortSignal) {
  const found = await listFiles({ folder, commit }, signal);
  return hasFailed(found) ? undefined : found.files.map(({ path }) => path);
}

/** The name that is absent: 'make has no target "check"' is about "check". */
const absentIn = (what: string): string =>
  /(?:there is no|has no) (?:script |target )?"?([^"]+)"?$/.exec(what)?.[1] ?? "";

/** Similar names in its folder, among scripts and make targets, because the name may be mistyped. */
async function namesNear(
  name: string,
  files: readonly string[],
  manifests: readonly Manifest[],
  folder: string,
): Promise<readonly string[]> {
  const start = name.slice(0, name.lastIndexOf("/") + 1);
  const beside = files.filter((file) => file.startsWith(start) && !file.slice(start.length).includes("/"));
  const makefile = beside.find((file) => /^(?:GNUmakefile|[Mm]akefile)$/.test(file));
  const targets = makefile === undefined ? [] : targetsIn(await textInside(folder, makefile));
  const scripts = manifests.flatMap(({ path, text }) =>
    path === "package.json" ? [...scriptsOf(text).keys()] : [],
  );
  return [...beside.slice(0, MAX_BESIDE), ...targets, ...scripts];
}

const MAX_BESIDE = 1_000;
const targetsIn = (makefile: string) =>
  [...makefile.matchAll(/^([\w./-]+)\s*:(?!=)/gm)].map(([, name = ""]) => name);

/**
 * Whether the tree before had it: if the change removed what the gate runs, the gate cannot be run; it is not
 * without work.
 */
async function wasThere(
  folder: string,
  name: string,
  tree: GatedTree,
  signal: AbortSignal,
): Promise<boolean> {
  if (before(tree) === tree.commit) return false;
  for (const file of [name, "package.json", "Makefile", "makefile", "GNUmakefile"]) {
    const { ok, out } = await git(
      { folder, args: ["show", `${before(tree)}:${file}`], maxBytes: MAX_TEXT_BYTES, cut: true },
      signal,
    );
    if (ok && (file === name || out.split(/[\s"':]+/).includes(name))) return true;
  }
  return false;
}

const MAX_TEXT_BYTES = 1_000_000;

/** Those at the top come first: in a repository of many packages they name what all share. */
async function manifestsIn(folder: string, files: readonly string[]): Promise<readonly Manifest[]> {
  const depth = (file: string) => file.split("/").length;
  const wanted = files
    .filter(isManifest)
    .toSorted((a, b) => depth(a) - depth(b))
    .slice(0, MAX_MANIFESTS);
  return Promise.all(wanted.map(async (path) => ({ path, text: await textInside(folder, path) })));
}

const MAX_MANIFESTS = 40;

type Around = { readonly files: readonly string[]; readonly manifests: readonly Manifest[] };

function failureOf(
  { line }: EndedCommand,
  found: SetupFailure,
  { commit }: GatedTree,
  around: Around,
): Failure {
  const where = `in a fresh clone of ${commit.slice(0, 7)}, without what git ignores`;
  const words = found.words.length > MAX_WORDS ? `${found.words.slice(0, MAX_WORDS)}…` : found.words;
  return failure(
    "setup",
    `the gate's command "${line}" cannot be run ${where}: ${found.what}\n${words}`,
    nextOf(found, line, around),
  );
}

const MAX_WORDS = 600;

function nextOf({ what, is }: SetupFailure, line: string, { files, manifests }: Around): string {
  if (is !== undefined && isSurrounding(is)) return settingFor(is, line);
  if (is === "service" || is === "known-service") {
    const compose = files.find((file) => /^(?:docker-)?compose\.ya?ml$/.test(file));
    return compose === undefined
      ? `start it before the run, or name a gate in skein.yaml that needs none:\n${A_GATE}`
      : "start it before the run, or let each workspace do so, in skein.yaml:\nworkspace:\n  setup: docker compose up --detach --wait";
  }
  const texts = new Map(manifests.map(({ path, text }) => [path, text]));
  const all = new Set(files);
  const proposal = proposeSetup((name) => texts.get(name) ?? (all.has(name) ? "" : undefined));
  const isTool = proposal !== undefined && what === `${proposal.command.split(" ")[0]} was not found`;
  if (is === "absent" || is === "mistyped") return `correct the gate in skein.yaml:\n${A_GATE}`;
  if (proposal === undefined || isTool || (is === "program" && !proposal.hasPrograms))
    return `install it where Skein runs, or name another gate in skein.yaml:\n${A_GATE}`;
  return `${LET_SET_UP}\n${yamlOf({ ...proposal, isNeeded: true })}`;
}

/** The beginning of a proposal that installs what is missing in every workspace. */
export const LET_SET_UP = "let each workspace be set up, in skein.yaml:";

export const A_GATE = "gate:\n  - <the command that runs your tests>";
