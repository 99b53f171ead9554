/** Takes one step of a script in the workspace, and reports why if it cannot. */
import fs from "node:fs";
import path from "node:path";
import type { ScriptStep } from "../../ports/agent-script.ts";
import { awaited } from "./scripted-await.ts";

/** Returns what is wrong if the step could not be taken. */
export function takeStep(
  step: ScriptStep,
  workspace: string,
  wait: (ms: number) => void,
): string | undefined {
  try {
    return "path" in step ? edit(step, workspace) : act(step, workspace, wait);
  } catch (error) {
    return `${step.do} failed: ${(error as Error).message}`;
  }
}

type Edit = Extract<ScriptStep, { readonly path: string }>;
type Act = Exclude<ScriptStep, { readonly path: string }>;

function edit(step: Edit, workspace: string): string | undefined {
  const file = inside(workspace, step.path);
  if (file === undefined) return `${step.path} leads out of the workspace`;
  switch (step.do) {
    case "write":
      return put(file, step.text);
    case "append":
      return put(file, `${fs.existsSync(file) ? fs.readFileSync(file, "utf8") : ""}${step.text}`);
    case "replace": {
      const text = fs.readFileSync(file, "utf8");
      const at = text.indexOf(step.find);
      if (at === -1) return `${step.path} has no ${JSON.stringify(step.find)}`;
      return put(file, text.slice(0, at) + step.with + text.slice(at + step.find.length));
    }
    case "insert": {
      const lines = fs.readFileSync(file, "utf8").split("\n");
      const at = lines.findLastIndex((line) => line.includes(step.after));
      if (at === -1) return `${step.path} has no line with ${JSON.stringify(step.after)}`;
      return put(file, lines.toSpliced(at + 1, 0, step.text.replace(/\n$/, "")).join("\n"));
    }
    case "delete":
      fs.rmSync(file);
      return undefined;
    case "rename": {
      const to = inside(workspace, step.to);
      if (to === undefined) return `${step.to} leads out of the workspace`;
      fs.mkdirSync(path.dirname(to), { recursive: true });
      fs.renameSync(file, to);
      return undefined;
    }
  }
}

function act(step: Act, workspace: string, wait: (ms: number) => void): string | undefined {
  switch (step.do) {
    case "wait":
      wait(step.ms);
      return undefined;
    case "await":
      return awaited(step, path.resolve(process.env["SKEIN_BRIEF"] ?? "", "../../../jobs"), wait);
    case "say":
      fs.writeSync(process.stdout.fd, `${step.text}\n`);
      return undefined;
    case "output": {
      const file = process.env["SKEIN_OUTPUT_FILE"];
      return file ? put(file, step.text) : "the task has no output file";
    }
    case "run":
      return run(step.command, workspace);
    case "commit":
      return run(["git", "add", "--all"], workspace) ?? run([...COMMIT, "-m", step.message], workspace);
  }
}

const IDENTITY = ["-c", "user.name=scripted", "-c", "user.email=scripted@localhost"];
const COMMIT = ["git", ...IDENTITY, "commit", "--quiet"];

function put(file: string, text: string): undefined {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}

/** Loads the module only if a program is run, because most turns run none. */
function run([name, ...args]: readonly string[], workspace: string): string | undefined {
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const { status, signal, error } = spawnSync(name!, args, { cwd: workspace, stdio: ["ignore", 1, 2] });
  if (error) return `${name} could not be started: ${error.message}`;
  return status === 0 ? undefined : `${name} ended with ${status ?? signal}`;
}

/** The path on disk, if no link on the way leads outside; the script's reader has refused ".." already. */
function inside(workspace: string, name: string): string | undefined {
  const root = fs.realpathSync(workspace);
  let known = path.join(root, name);
  while (!fs.lstatSync(known, { throwIfNoEntry: false })) known = path.dirname(known);
  const real = fs.realpathSync(known);
  return real === root || real.startsWith(root + path.sep) ? path.join(root, name) : undefined;
}
