/** Assembles what a subtask reads, and checks its result against what was asked for. */
import path from "node:path";
import type { WorkBrief } from "../core/brief.ts";
import { type Failure, failure } from "../core/failure.ts";
import type { Handoff } from "../core/handoff.ts";
import { hasFailed } from "../core/result.ts";
import type { Ask } from "../ports/agent.ts";
import type { Artefacts, ContextFiles } from "../ports/subtasks.ts";
import { assembleContext } from "../subtasks/context.ts";
import { checkExpectation } from "../subtasks/expectations.ts";
import { capResult } from "../subtasks/finish.ts";
import { DEFAULT_LIMITS } from "../subtasks/limits.ts";
import type { TemplateRegistry } from "../subtasks/registry.ts";
import { isResult } from "./terms.ts";

/** Named files are included whole. Of files that match, only the names are: the subtask has all files in its folder. */
export async function contextFor(
  brief: WorkBrief,
  files: ContextFiles,
  templates: () => Promise<Pick<TemplateRegistry, "fileOf">>,
  signal: AbortSignal,
): Promise<Pick<Ask, "context">> {
  const { spawn } = brief.spec;
  if (!spawn || brief.goOn) return {};
  const { context: settings, filePaths, description, inputs, session } = spawn;
  const inherits = settings.inherit_context === "full" ? { inherits: session } : {};
  const query = `${description} ${inputs.slice(0, MAX_QUERY_CHARS)}`;
  const wish = {
    ...{ settings: { ...settings, fresh_context: "disabled" as const }, query, filePaths },
    ...{ parent: undefined, earlier: brief.earlier ?? [] },
  };
  const limited = AbortSignal.any([signal, AbortSignal.timeout(DEFAULT_LIMITS.contextMs)]);
  const made = await assembleContext(wish, { files, limits: DEFAULT_LIMITS, signal: limited });
  if ("error" in made)
    return { context: { text: `[context left out: ${made.error.message}]\n`, ...inherits } };
  const isMatched =
    filePaths.length === 0 && (settings.fresh_context === "enabled" || settings.inherit_context === "subset");
  const max = DEFAULT_LIMITS.matchedFiles;
  const matched = isMatched ? await files.match(query, max + 1, limited) : [];
  const own = isMatched ? (await templates()).fileOf(spawn.template) : undefined;
  const others = hasFailed(matched) ? [] : matched.filter((file) => file !== own).slice(0, max);
  const names = others.length === 0 ? "" : `Files that may matter:\n${others.join("\n")}\n\n`;
  const warnings = made.warnings.map((warning) => `[${warning}]\n`).join("");
  return { context: { text: `${names}${made.context.text}${warnings}`, ...inherits } };
}

/** Of the inputs: the start of a text says what it is about. */
const MAX_QUERY_CHARS = 2_000;

/** The result is what the worker says at its end. It is checked first, and then cut to what a conversation can hold. */
export async function checkedResult(
  brief: WorkBrief,
  handoff: Handoff,
  artefacts: Artefacts,
): Promise<{ readonly handoff: Handoff; readonly unmet?: Failure }> {
  const { spawn } = brief.spec;
  if (!isResult(brief) || handoff.status !== "complete") return { handoff };
  const checked =
    spawn?.expectation === undefined ? undefined : checkExpectation(handoff.summary, spawn.expectation);
  if (checked?.is === "unlike") {
    const why = `its result is not as expected: ${checked.problems.join("; ")}`;
    return { handoff, unmet: failure("unmet", why, `answer as: ${spawn?.expectation}`) };
  }
  const result = { content: handoff.summary, status: "COMPLETE" as const, notes: {} };
  const { content, notes } = await capResult(
    result,
    DEFAULT_LIMITS.resultTokens - CUT_LINE_TOKENS,
    artefacts,
  );
  const { artefact } = notes;
  const named = artefact === undefined ? {} : { artefact: path.basename(artefact) };
  return { handoff: { ...handoff, summary: content, ...named } };
}

/** Reserved for the line that says what was left out and where the whole is, so that both fit into the log's limit. */
const CUT_LINE_TOKENS = 200;
