/** `skein subtask list`: which templates does the repository have, and what is wrong with those that cannot be used? */
import { type FoundTemplate, TEMPLATES_FOLDER, templatesOf } from "../../../compose/subtask-templates.ts";
import type { Template } from "../../../subtasks/template.ts";
import { type Act, say, writeJson } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import type { SubtaskListOptions } from "../verbs/options.ts";
import { harmless } from "../words.ts";
import { hasExit, openHere } from "./project.ts";

export const subtaskList: Act<SubtaskListOptions> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const { found } = await templatesOf(project.located.top, options.allowCode === true);
  if (context.json) writeJson(context, { templates: found.map(entryOf) });
  for (const line of found.flatMap(linesOf)) say(context, line);
  if (found.length === 0) say(context, `there are no templates in ${TEMPLATES_FOLDER}; see docs/subtasks.md`);
  return found.some(({ is }) => is === "wrong") ? EXIT.notAllDone : EXIT.done;
};

function entryOf(found: FoundTemplate): object {
  const { file } = found;
  if (found.is === "wrong") return { file, problem: found.why };
  if (found.is === "code") return { file, problem: NOT_IMPORTED };
  const { name, type, subtype, description, inputs = {} } = found.template;
  return { file, name, type, ...(subtype !== undefined && { subtype }), description, inputs };
}

const NOT_IMPORTED = "a module, not imported: that would run it (--allow-code)";

function linesOf(found: FoundTemplate): readonly string[] {
  const file = harmless(found.file);
  if (found.is === "wrong") return [`${file}: cannot be used: ${harmless(found.why, MAX_WHY_CHARS)}`];
  if (found.is === "code") return [`${file}: ${NOT_IMPORTED}`];
  const { name, type, description } = found.template;
  return [
    `${harmless(name)} (${harmless(type)}): ${harmless(description, MAX_SHOWN_CHARS)}`,
    `  ${[file, ...inputsOf(found.template)].join("; ")}`,
  ];
}

const MAX_SHOWN_CHARS = 200;
const MAX_WHY_CHARS = 500;

const inputsOf = ({ inputs = {} }: Template): readonly string[] => {
  const names = Object.entries(inputs).map(([name, { required }]) =>
    harmless(required ? name : `[${name}]`, MAX_SHOWN_CHARS),
  );
  return names.length === 0 ? [] : [`inputs: ${names.join(", ")}`];
};
