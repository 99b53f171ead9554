/** `npm run toolchains`: checks that gates of real tool chains stop a run, or let it go on, as they should. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { makePlace } from "../e2e/cli-place.ts";
import { RECIPES, type Recipe, TOOLS, type Tool } from "./recipes.ts";

const HELP = `Runs the gates of small repositories with real npm, pytest, go, cargo, make and shell, each by a whole
\`skein run\`: ordinary ones, whose probe must be red, and such as cannot be run, which must stop with exit code 3.

  npm run toolchains                    what is on the PATH; what is not is left out, and said
  npm run toolchains -- --install       as root: installs what is missing by apt-get first
  npm run toolchains -- go cargo        only these tools

Writes test/toolchains/last-result.json. Exit: 0 all as it should be, 1 not, 2 usage.`;

const RESULT = path.join(import.meta.dirname, "last-result.json");

type Result = {
  readonly name: string;
  readonly tool: string;
  readonly is: "as it should be" | "wrong" | "left out";
  readonly exit?: number | null;
  readonly seconds?: number;
  /** The end of the command's output, if the result was wrong. */
  readonly said?: string;
};

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (options === undefined) {
    console.error(HELP);
    return 2;
  }
  const tools = TOOLS.filter(({ name }) => options.names.length === 0 || options.names.includes(name));
  if (options.install) for (const tool of tools) if (versionOf(tool) === undefined) install(tool);
  const versions = Object.fromEntries(tools.map((tool) => [tool.name, versionOf(tool) ?? "not here"]));
  const results: Result[] = [];
  for (const recipe of RECIPES.filter(({ tool }) => tool in versions)) {
    const isHere = versions[recipe.tool] !== "not here";
    const result = isHere
      ? await tried(recipe)
      : ({ name: recipe.name, tool: recipe.tool, is: "left out" } as const);
    console.log(JSON.stringify(result));
    results.push(result);
  }
  const day = new Date().toISOString().slice(0, 10);
  const record = { day, commit: commitOf(), versions, results };
  writeFileSync(RESULT, `${JSON.stringify(record, undefined, 2)}\n`);
  return results.some(({ is }) => is === "wrong") ? 1 : 0;
}

function readOptions(): { readonly names: readonly string[]; readonly install: boolean } | undefined {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { install: { type: "boolean", default: false } },
    });
    const isKnown = positionals.every((name) => TOOLS.some((tool) => tool.name === name));
    const mayInstall = !values.install || process.getuid?.() === 0;
    return isKnown && mayInstall ? { names: positionals, install: values.install } : undefined;
  } catch {
    return undefined; // The help that is then printed names the options.
  }
}

function versionOf({ version }: Tool): string | undefined {
  try {
    return execFileSync("sh", ["-c", version], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
      .trim()
      .replaceAll("\n", "; ");
  } catch {
    return undefined;
  }
}

function install({ name, packages }: Tool): void {
  console.error(`installing ${packages.join(", ")} for ${name} (apt-get)`);
  try {
    execFileSync("apt-get", ["install", "-y", ...packages], { stdio: ["ignore", "ignore", "inherit"] });
  } catch (error) {
    console.error(`not installed: ${String(error).slice(0, 300)}`); // The tool is left out, and the result says so.
  }
}

/** Uses the person's own home, where tool chains have their caches and settings. */
async function tried({ name, tool, files, gate, exit, says }: Recipe): Promise<Result> {
  await using place = await makePlace({ files, isTrusted: true });
  const env = { HOME: process.env["HOME"], SKEIN_TRIAL_CHECKOUT: place.repository.folder };
  const start = performance.now();
  const { code, out, err } = await place
    .with({ env })
    .skein(
      ...["run", "Write two files", "--agent", place.agent, "--set", "workspace.pass=SKEIN_TRIAL_CHECKOUT"],
      ...(gate === undefined ? [] : ["--gate", gate]),
    );
  const seconds = Math.round((performance.now() - start) / 100) / 10;
  const said = out + err;
  const isRight = code === exit && says.test(said);
  const wrong = isRight ? {} : { said: said.slice(-2_000) };
  return { name, tool, is: isRight ? "as it should be" : "wrong", exit: code, seconds, ...wrong };
}

function commitOf(): string {
  const head = execFileSync("git", ["rev-parse", "--short", "HEAD"], {
    encoding: "utf8",
    cwd: import.meta.dirname,
  });
  return head.trim();
}
