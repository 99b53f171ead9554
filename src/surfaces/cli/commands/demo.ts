/** `skein demo`: a whole run of a small project, with agents that answer from a script. */

import { mkdir, mkdtemp, readdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { askGit, openProject } from "../../../compose/project.ts";
import { readConfig } from "../../../config/index.ts";
import { messageOf } from "../../../core/failure.ts";
import { hasFailed } from "../../../core/result.ts";
import type { RunView } from "../../../core/view/view.ts";
import { commands, plural, quoted, short } from "../../../text/words.ts";
import { demoGoal, demoProject } from "../../demo/project.ts";
import { CACHE_VARIABLE, demoScript, demoSettings } from "../../demo/script.ts";
import { type Exit, hasExit, NEVER } from "../acts/project.ts";
import { wrapped } from "../columns.ts";
import { type Act, type Context, refuse, say, usage } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { paint } from "../output.ts";
import { type AddTo, addPlain, examples, type PlainOption } from "./options.ts";
import { begin } from "./run.ts";

type DemoOptions = PlainOption & { readonly folder?: string };

export const addDemo: AddTo = (command, perform) => {
  addPlain(command)
    .description(
      "Creates a small project in a new folder and takes it from its SPEC.md to landed, tested commits. The agents " +
        "answer from a script, and some of them fail on purpose; everything else is real.",
    )
    .option("--folder <folder>", "where to create it: a new or empty folder (default: a temporary one)")
    .addHelpText("after", examples("skein demo", "skein demo --folder ~/almanac-demo"))
    .action((options: DemoOptions) => perform(async (context) => demo(context, options)));
};

const demo: Act<DemoOptions> = async (context, options) => {
  const made = await makeProject(context, options);
  if (hasExit(made)) return made.exit;
  const { project: top, state, script, cache } = made;
  say(context, "Everything but the model is real: git, workspaces, processes, the gate, the log.");
  say(
    context,
    wrapped(
      "The agents answer from a script, and things go wrong: the tests already fail at the start, one agent is " +
        "killed, one edits files that it must not touch, one reports success without a change, one breaks a test in a " +
        "batch of eight; two edit the same lines, two break each other although git merges them; one test is flaky, " +
        "and the model is unreachable for a moment.",
    ),
  );
  say(context);
  // Beside the project, so that one folder holds everything of the demo.
  const env = { ...context.env, SKEIN_STATE_DIR: state, [CACHE_VARIABLE]: cache };
  const here = { ...context, env, folder: top, hasOwnHints: true as const };
  const project = await openProject(top, env, NEVER);
  if (hasFailed(project)) return refuse(context, EXIT.configuration, project.failure);
  const agent = { kind: "scripted", script } as const;
  const read = readConfig({ env: {}, sets: [], flags: { ...demoSettings, agent } });
  if ("problems" in read)
    throw new Error(`the demo's own configuration is wrong: ${JSON.stringify(read.problems)}`);
  const { config, notices } = read;
  const { plain } = options;
  const driven = await begin(here, project, { goal: demoGoal, config, notices, ...(plain && { plain }) });
  const proved = driven.view ? await sayWalk(here, top, driven.view) : true;
  sayHints(context, made, driven.view);
  return driven.exit === EXIT.done && !proved ? EXIT.notAllDone : driven.exit;
};

/** Prints commands that can be pasted as they are. */
function sayHints(context: Context, { folder, project, state }: Made, view: RunView | undefined): void {
  const { command } = context;
  say(context, `\n${paint(context.out, "strong", "To look around in the demo project")}`);
  const lines = commands([
    [`cd ${quoted(project)}`],
    [`export SKEIN_STATE_DIR=${quoted(state)}`, "so that skein finds this run"],
    ...(view === undefined
      ? []
      : [
          [`${command} show ${view.run}`, "the tasks"] as const,
          [`${command} logs ${view.run}`, "what happened"] as const,
          [
            `git log --first-parent --notes=skein/${view.run} skein/${view.run}/target`,
            "what landed, with the gate results",
          ] as const,
          [`${command} deliver ${view.run} --into-checkout`, "merge it into main"] as const,
        ]),
    [`rm -rf ${quoted(folder)}`, "delete the demo"],
  ]);
  for (const line of lines) say(context, `  ${line}`);
}

type Made = {
  readonly folder: string;
  readonly project: string;
  readonly state: string;
  readonly script: string;
  readonly cache: string;
};

async function makeProject(context: Context, { folder: wanted }: DemoOptions): Promise<Made | Exit> {
  try {
    const folder =
      wanted === undefined
        ? await mkdtemp(path.join(tmpdir(), "skein-demo-"))
        : path.resolve(context.folder, wanted);
    await mkdir(folder, { recursive: true });
    if ((await readdir(folder)).length > 0)
      return { exit: usage(context, `${folder} is not empty`, "name a folder that is new or empty") };
    const project = path.join(folder, "almanac");
    const script = path.join(folder, "script.json");
    const cache = path.join(folder, "cache");
    await mkdir(cache);
    for (const [name, text] of Object.entries(demoProject())) {
      await mkdir(path.dirname(path.join(project, name)), { recursive: true });
      await writeFile(path.join(project, name), text);
    }
    await writeFile(script, `${JSON.stringify(demoScript(), undefined, 2)}\n`);
    const exit = await firstCommit(context, project);
    return exit === undefined
      ? { folder, project, state: path.join(folder, "state"), script, cache }
      : { exit };
  } catch (error) {
    const message = `cannot create the demo project: ${messageOf(error)}`;
    return {
      exit: refuse(context, EXIT.configuration, {
        kind: "repository",
        message,
        next: "name another folder: --folder",
      }),
    };
  }
}

const PERSON = [
  ...["-c", "user.name=Skein Demo", "-c", "user.email=demo@example.invalid"],
  ...["-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"],
];

async function firstCommit(context: Context, project: string): Promise<ExitCode | undefined> {
  const steps = [
    ["init", "--quiet", "--initial-branch=main"],
    ["add", "--all"],
    ["commit", "--quiet", "--message=Specify the almanac"],
  ] as const;
  for (const [verb, ...args] of steps) {
    if ((await askGit(project, [...PERSON, verb, ...args])) !== undefined) continue;
    const message = `git ${verb} failed in ${project}`;
    return refuse(context, EXIT.configuration, {
      kind: "repository",
      message,
      next: "git 2.38 or newer must be installed",
    });
  }
  return undefined;
}

/** The promise is about every commit that the target ever pointed at, so each is checked, not only the last. */
async function sayWalk(context: Context, top: string, view: RunView): Promise<boolean> {
  const walk = await walkTarget(top, view, `skein/${view.run}/target`);
  say(context);
  if (walk.unproved.length === 0) {
    say(
      context,
      paint(
        context.out,
        "good",
        wrapped(
          `Verified: each of the ${plural(walk.proved, "commit")} that landed on the target branch ` +
            "has a git note that says it passed the gate.",
        ),
      ),
    );
    return true;
  }
  say(context, paint(context.out, "bad", `Without such a note: ${walk.unproved.map(short).join(", ")}`));
  return false;
}

/** How many of the target's commits were gated, read with git alone: from the first-parent history and its notes. */
type Walk = { readonly proved: number; readonly unproved: readonly string[] };

/** The commit that the run started from is the user's own and needs no proof. */
async function walkTarget(
  folder: string,
  { run, base, landings }: Pick<RunView, "run" | "base" | "landings">,
  target: string,
): Promise<Walk> {
  const format = "--format=%x00%H%x00%N";
  const log = await askGit(folder, [
    "log",
    "--first-parent",
    `--notes=skein/${run}`,
    format,
    `${base}..${target}`,
  ]);
  const fields = (log ?? "").split("\0").slice(1);
  const found = new Map<string, string>();
  for (let i = 0; i + 1 < fields.length; i += 2) found.set(fields[i]!, fields[i + 1]!);
  const commits = new Set([...found.keys(), ...landings.map(({ commit }) => commit)]);
  const unproved = [...commits].filter((commit) => proofIn(found.get(commit) ?? "") !== "green");
  return { proved: commits.size - unproved.length, unproved };
}

function proofIn(note: string): unknown {
  try {
    return (JSON.parse(note) as { proof?: unknown }).proof;
  } catch {
    return undefined; // There is no note, or none written by Skein.
  }
}
