/** How are programs named in the configuration? By words, by a list of words, or in full; never shown when refused. */
import { z } from "zod";

const word = z.string("must be a text").max(10_000, "is too long");
const program = z.tuple(
  [word.min(1, "names no program")],
  word,
  "must be a list of a program and its arguments",
);

const commandAgent = z.strictObject({ kind: z.literal("command"), command: program });
const scriptedAgent = z.strictObject({ kind: z.literal("scripted"), script: word.min(1, "names no file") });
const agentSpec = z.discriminatedUnion("kind", [commandAgent, scriptedAgent], {
  error: 'must be a command such as ["program", "argument"], or have the kind "command" or "scripted"',
});

export type AgentSpec =
  | { readonly kind: "command"; readonly command: readonly [string, ...string[]] }
  | { readonly kind: "scripted"; readonly script: string };

const writtenAgent = z.union([z.string(), z.array(z.string()), commandAgent, scriptedAgent], {
  error: agentError,
});

/** What of the full form is wrong, since "none of four forms fits" helps nobody. */
function agentError({ input }: { readonly input?: unknown }): string {
  const full = Array.isArray(input) ? { kind: "command", command: input } : input;
  const issues = agentSpec.safeParse(full).error?.issues ?? [];
  const unknown = issues.find((issue) => issue.code === "unrecognized_keys");
  if (unknown) return `has unknown keys: ${unknown.keys.join(", ")}`;
  const [issue] = issues;
  const message = issue?.message.startsWith("Invalid input")
    ? "is missing or of the wrong kind"
    : issue?.message;
  return `${issue?.path.length ? `${issue.path.join(".")} ` : ""}${message ?? "cannot be read"}`;
}

export const agent = () =>
  z.codec(writtenAgent, agentSpec, {
    decode: (written, context) => agentOf(written, context.issues) ?? z.NEVER,
    encode: (spec) => spec,
  });

/** As an agent, or `none`: the goal goes to one worker as one task. */
export const planner = () =>
  z.codec(writtenAgent, z.union([z.literal("none"), agentSpec]), {
    decode: (written, context) =>
      written === "none" ? written : (agentOf(written, context.issues) ?? z.NEVER),
    encode: (spec) => spec,
  });

type Written = z.output<typeof writtenAgent>;
type Spec = z.output<typeof agentSpec>;

function agentOf(written: Written, issues: z.core.$ZodRawIssue[]): Spec | undefined {
  if (typeof written === "object" && !Array.isArray(written)) return written;
  const words = typeof written === "string" ? splitWords(written) : { words: written };
  const [first, ...rest] = "words" in words ? words.words : [];
  if (first) return { kind: "command", command: [first, ...rest] };
  const message = "problem" in words ? words.problem : "names no program";
  issues.push({ code: "custom", message, input: undefined });
  return undefined;
}

/**
 * Words as a shell splits them, with quotes and backslashes; what only a shell can do is refused, not guessed.
 *
 * ```ts
 * splitWords(`agent --say "two words"`); // { words: ["agent", "--say", "two words"] }
 * ```
 */
export function splitWords(
  text: string,
): { readonly words: readonly string[] } | { readonly problem: string } {
  const words: string[] = [];
  for (let rest = text.trimStart(); rest !== ""; rest = rest.trimStart()) {
    const found = WORD.exec(rest)?.[0] ?? "";
    if (found === "" || !/^(?:\s|$)/.test(rest.slice(found.length)))
      return {
        problem: OPEN_QUOTE.test(rest.slice(found.length)) ? "has a quote that does not end" : SHELL,
      };
    words.push(found.replaceAll(PART, (_, double, single, escaped) => unquoted(double, single, escaped)));
    rest = rest.slice(found.length);
  }
  return { words };
}

const SHELL = 'needs a shell: write it as ["sh", "-c", "…"], or put signs such as $ | & ; < > in quotes';
const WORD = /^(?:"(?:[^"\\$`]|\\[\s\S])*"|'[^']*'|\\[\s\S]|[^\s"'\\$`|&;<>()])*/;
const OPEN_QUOTE = /^(?:'|"(?:[^"\\]|\\[\s\S])*$)/;
const PART = /"((?:[^"\\]|\\[\s\S])*)"|'([^']*)'|\\([\s\S])/g;

const unquoted = (double?: string, single?: string, escaped?: string): string =>
  double?.replaceAll(/\\(["\\$`])/g, "$1") ?? single ?? escaped ?? "";

export type GateCommand = { readonly name: string; readonly run: string };

const named = z.strictObject({
  name: z.string("must be a text").min(1, "must not be empty").max(80, "is too long"),
  run: z.string("must be a text").trim().min(1, "must not be empty").max(10_000, "is too long"),
});

/** `auto`: detected; `none`: nothing has to pass. Each command is run by `/bin/sh -c`; its text is its name unless told. */
export const gate = () =>
  z.codec(
    z.union(
      [
        z.enum(["auto", "none"]),
        z.array(z.union([z.string(), named])).min(1, 'has no commands: write "none" for no gate'),
      ],
      {
        error:
          'must be "auto", "none" or a list of commands such as ["npm test"], each a text or { name, run }',
      },
    ),
    z.union([z.enum(["auto", "none"]), z.array(named)]),
    {
      decode: (written, context) => {
        if (typeof written === "string") return written;
        const commands = written.map((one) =>
          typeof one === "string" ? { name: nameOf(one), run: one.trim() } : one,
        );
        const message = problemOf(commands);
        if (message === undefined) return commands;
        context.issues.push({ code: "custom", message, input: undefined });
        return z.NEVER;
      },
      encode: (commands) => commands,
    },
  );

const nameOf = (run: string) => run.trim().split("\n")[0]!.slice(0, 80).trim();

function problemOf(commands: readonly GateCommand[]): string | undefined {
  if (commands.some(({ name, run }) => name === "" || run === "")) return "has an empty command";
  const twice = commands.find(({ name }, i) => commands.findIndex((other) => other.name === name) < i);
  return (
    twice && `has two commands with one name: command ${commands.indexOf(twice) + 1} repeats an earlier one`
  );
}
