/** Turns the steps of a script into calls of a worker's tools, one call for each step. */
import path from "node:path";
import { unreachable } from "../../../src/core/unreachable.ts";
import type { ScriptStep } from "../../../src/ports/agent-script.ts";

export type Called = { readonly name: string; readonly input: Readonly<Record<string, unknown>> };
export type Pause = Extract<ScriptStep, { readonly do: "wait" | "await" }>;

/** Pauses and text, then a call; after the last steps of a script there may be no call. */
export type Move = {
  readonly pauses: readonly Pause[];
  readonly text: string;
  readonly call?: Called;
  /** The call to make if the first one was refused. */
  readonly otherwise?: Called;
};

/** The last move has no call: the attempt's end comes after it. */
export function movesOf(steps: readonly ScriptStep[]): readonly Move[] {
  const moves: Move[] = [];
  let next: Move = { pauses: [], text: "" };
  for (const step of steps) {
    if (step.do === "wait" || step.do === "await") next = { ...next, pauses: [...next.pauses, step] };
    else if (step.do === "say") next = { ...next, text: `${next.text}${step.text}\n` };
    else {
      moves.push({ ...next, ...callsFor(step) });
      next = { pauses: [], text: "" };
    }
  }
  return [...moves, next];
}

/** Whether a tool's answer says that the step did not work. */
export const isRefused = (result: string) => result.startsWith("error: ") || result.includes(FAILED);

const FAILED = "[script: the step failed]";

type Act = Exclude<ScriptStep, Pause | { readonly do: "say" }>;

function callsFor(step: Act): Required<Pick<Move, "call">> & Pick<Move, "otherwise"> {
  switch (step.do) {
    case "write":
      return { call: { name: "write", input: { path: step.path, content: step.text } } };
    case "replace": {
      const input = { path: step.path, old_text: step.find, new_text: step.with };
      // A worker's tool requires a text that occurs once; the script means the first occurrence.
      const otherwise = node(REPLACE, step.path, step.find, step.with);
      return { call: { name: "edit", input }, otherwise };
    }
    case "insert":
      return { call: node(INSERT, step.path, step.after, step.text.replace(/\n$/, "")) };
    case "append":
      return {
        call: bash(`${folderOf(step.path)} && printf %s ${quoted(step.text)} >> ${quoted(step.path)}`),
      };
    case "delete":
      return { call: bash(`rm -- ${quoted(step.path)}`) };
    case "rename":
      return { call: bash(`${folderOf(step.to)} && mv -- ${quoted(step.path)} ${quoted(step.to)}`) };
    case "run":
      return { call: bash(step.command.map(quoted).join(" ")) };
    case "output":
      return { call: bash(`printf %s ${quoted(step.text)} > "$SKEIN_OUTPUT_FILE"`) };
    case "commit":
      return { call: bash(`git add --all && ${COMMIT} -m ${quoted(step.message)}`) };
    default:
      return unreachable(step);
  }
}

const COMMIT = "git -c user.name=scripted -c user.email=scripted@localhost commit --quiet";

const REPLACE = `const [, file, find, text] = process.argv;
const old = fs.readFileSync(file, "utf8");
const at = old.indexOf(find);
if (at < 0) throw new Error(file + " has no " + JSON.stringify(find));
fs.writeFileSync(file, old.slice(0, at) + text + old.slice(at + find.length));`;

const INSERT = `const [, file, after, text] = process.argv;
const lines = fs.readFileSync(file, "utf8").split("\\n");
const at = lines.map((line) => line.includes(after)).lastIndexOf(true);
if (at < 0) throw new Error(file + " has no line with " + JSON.stringify(after));
lines.splice(at + 1, 0, text);
fs.writeFileSync(file, lines.join("\\n"));`;

const node = (program: string, ...values: readonly string[]): Called =>
  bash(`node -e ${quoted(program)} -- ${values.map(quoted).join(" ")}`);

const bash = (command: string): Called => ({
  name: "bash",
  input: { command: `{ ${command}\n} || { echo ${quoted(FAILED)}; exit 1; }` },
});

const folderOf = (file: string) => `mkdir -p -- ${quoted(path.posix.dirname(file))}`;

/** Quotes a text for a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
