/** Reads how agents are named in the configuration: by name, model, command or in full; shows no refused value. */
import * as z from "zod";
import type { AgentSpec } from "../ports/agent-spec.ts";
import { issueText } from "./issue-text.ts";
import { knownAgent } from "./known-agents.ts";
import { modelIn, modelProblem, modelSpec, specOf, writtenModel, writtenOf } from "./models.ts";

const word = z.string("must be a text").max(10_000, "is too long");
const program = z.tuple(
  [word.min(1, "names no program")],
  word,
  "must be a list of a program and its arguments",
);

const commandAgent = z.strictObject({ kind: z.literal("command"), command: program });
const scriptedAgent = z.strictObject({ kind: z.literal("scripted"), script: word.min(1, "names no file") });
const acpAgent = z.strictObject({ kind: z.literal("acp"), name: word.min(1), command: program });
const modelAgent = z.strictObject({
  kind: z.literal("model"),
  model: modelSpec,
  fallbacks: z.array(modelSpec),
});
const agentSpec = z.discriminatedUnion("kind", [commandAgent, scriptedAgent, acpAgent, modelAgent]);

const writtenAcp = z.strictObject({
  kind: z.literal("acp"),
  name: z.string("must be a text").min(1, "must not be empty").max(100, "is too long").optional(),
  command: program,
});
const shortAcp = z.strictObject({ acp: z.union([z.string(), program], "must be a command") });
const builtIn = writtenModel.extend({
  kind: z.literal("model"),
  fallbacks: z.array(z.union([z.string(), writtenModel], "must be provider/model, or in full")).optional(),
});
const inFull = z.discriminatedUnion("kind", [commandAgent, scriptedAgent, writtenAcp, builtIn], {
  error: ({ input }) =>
    typeof input === "object" && input !== null
      ? 'must be "command", "acp", "model" or "scripted"' // Reported for the key `kind`.
      : 'must be a command such as ["program", "argument"], an agent\'s name, provider/model, or in full',
});

const writtenAgent = z.union(
  [z.string(), z.array(z.string()), shortAcp, commandAgent, scriptedAgent, writtenAcp, builtIn],
  { error: agentError },
);

/** Says what is wrong in the full form: "none of seven forms fits" would not help. */
function agentError({ input }: { readonly input?: unknown }): string {
  const isShort = typeof input === "object" && input !== null && "acp" in input;
  const full = Array.isArray(input) ? { kind: "command", command: input } : input;
  const { error } = isShort ? shortAcp.safeParse(input) : inFull.safeParse(full);
  return issueText(error?.issues ?? []) ?? "cannot be read";
}

export const agent = () =>
  z.codec(writtenAgent, agentSpec, {
    decode: (written, context) => agentOf(written, context.issues) ?? z.NEVER,
    encode: writtenAgentOf,
  });

/** An agent, or `none`: the whole goal goes to one worker as one task. */
export const planner = () =>
  z.codec(writtenAgent, z.union([z.literal("none"), agentSpec]), {
    decode: (written, context) =>
      written === "none" ? written : (agentOf(written, context.issues) ?? z.NEVER),
    encode: (spec) => (spec === "none" ? spec : writtenAgentOf(spec)),
  });

type Written = z.output<typeof writtenAgent>;
type Spec = z.output<typeof agentSpec>;
type Read = AgentSpec | { readonly problem: string };

function agentOf(written: Written, issues: z.core.$ZodRawIssue[]): Spec | undefined {
  const read = typeof written === "string" ? readAgentText(written) : readAgentForm(written);
  if (!("problem" in read)) return read as Spec; // The same type, except for `readonly`.
  issues.push({ code: "custom", message: read.problem, input: undefined });
  return undefined;
}

/**
 * A single word that is an agent's name or `provider/model` names that; a list, or a path such as ./opencode, is always
 * the program.
 *
 * ```ts
 * readAgentText("opencode"); // { kind: "acp", name: "opencode", command: ["opencode", "acp"] }
 * readAgentText("acp:./mine --fast"); // { kind: "acp", name: "mine", command: ["./mine", "--fast"] }
 * readAgentText("./opencode"); // { kind: "command", command: ["./opencode"] }
 * ```
 */
export function readAgentText(text: string): Read {
  if (/^\s*\{/.test(text)) return NO_GROUP;
  const named = acpNamed(text.trim());
  if (named) return named;
  const model = modelIn(text);
  if (model) return { kind: "model", model, fallbacks: [] };
  const [, acp] = /^\s*acp:(.*)$/s.exec(text) ?? [];
  const read = splitWords(acp ?? text);
  if ("problem" in read) return read;
  return acp === undefined ? commandOf(read.words) : acpOf(read.words);
}

function readAgentForm(written: Exclude<Written, string>): Read {
  if (Array.isArray(written)) return commandOf(written);
  if ("acp" in written) {
    return typeof written.acp === "string" ? readAgentText(`acp:${written.acp}`) : acpOf(written.acp);
  }
  if (written.kind === "acp") return acpOf(written.command, written.name);
  if (written.kind !== "model") return written;
  const { kind, fallbacks = [], ...own } = written;
  const model = specOf(own);
  const others = fallbacks.map((one) => (typeof one === "string" ? modelIn(one) : specOf(one)));
  const known = others.filter((one) => one !== undefined);
  if (known.length < others.length)
    return { problem: "fallbacks must be models such as openai/gpt-5, or in full" };
  const problem = [model, ...known].map(modelProblem).find((one) => one !== undefined);
  return problem === undefined ? { kind, model, fallbacks: known } : { problem };
}

const commandOf = ([first, ...rest]: readonly string[]): Read =>
  first ? { kind: "command", command: [first, ...rest] } : NO_PROGRAM;

function acpOf(words: readonly string[], name?: string): Read {
  const [first, ...rest] = words;
  if (!first) return NO_PROGRAM;
  const known = rest.length === 0 && name === undefined ? acpNamed(first) : undefined;
  return known ?? { kind: "acp", name: name ?? lastPart(first), command: [first, ...rest] };
}

/** Read as a command it would be shown as "not found", with any key that is written in it. */
const NO_GROUP = { problem: "is a group that cannot be read: see to its quotes and commas" } as const;
const NO_PROGRAM = { problem: "names no program" } as const;
const lastPart = (program: string) => program.slice(program.lastIndexOf("/") + 1) || program;

function acpNamed(name: string): AgentSpec | undefined {
  const known = knownAgent(name);
  return known && { kind: "acp", name: known.name, command: known.command };
}

function writtenAgentOf(spec: Spec): Written {
  if (spec.kind !== "model") return spec;
  const { kind, model, fallbacks } = spec;
  return {
    kind,
    ...writtenOf(model),
    ...(fallbacks.length > 0 ? { fallbacks: fallbacks.map(writtenOf) } : {}),
  };
}

/**
 * Splits words as a shell does, with quotes and backslashes; syntax that only a shell can execute is refused.
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
