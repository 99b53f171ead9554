/** Which template is in an XML text? Entities, document types and unknown elements are refused; sizes are limited. */
import { parseXml, XmlElement, XmlText } from "@rgrove/parse-xml";
import { messageOf } from "../core/failure.ts";
import { type ReadTemplate, readTemplate } from "./template.ts";

export function readTemplateXml(text: string): ReadTemplate {
  if (text.length > MAX_CHARS) return { problem: `XML: longer than ${MAX_CHARS} characters` };
  let root: XmlElement | null;
  try {
    const document = parseXml(text, { preserveDocumentType: true });
    if (document.children.some(({ type }) => type === "doctype"))
      return { problem: "XML: a document type is not allowed, nor are entities of one's own" };
    root = document.root;
  } catch (thrown) {
    return { problem: `XML: ${messageOf(thrown).split("\n")[0]}` }; // Too deep for its stack, too.
  }
  if (root?.name !== "task") return { problem: `XML: the outermost element must be <task>` };
  try {
    return readTemplate(taskFrom(root, "task", 0));
  } catch (thrown) {
    if (thrown instanceof Refusal) return { problem: `XML: ${thrown.message}` };
    throw thrown;
  }
}

/** More than a hundred pages. */
const MAX_CHARS = 256_000;
const MAX_LEVELS = 20;

class Refusal extends Error {}

type Fields = Record<string, unknown>;
type Reader = (element: XmlElement, at: string, level: number) => unknown;

function taskFrom(element: XmlElement, at: string, level: number): Fields {
  if (level > MAX_LEVELS) throw new Refusal(`${at}: more than ${MAX_LEVELS} levels`);
  const { ref, ...attributes } = attributesOf(element, ["name", "type", "subtype", "ref"], at);
  const fields: Fields = { ...attributes, ...fieldsOf(element, ELEMENTS, at, level) };
  for (const each of elementsIn(element, at))
    if (each.name === "each") Object.assign(fields, overOf(each, `${at} › each`));
  if (ref !== undefined) throw new Refusal(`${at}: ref is for a task in a group`);
  return fields;
}

/** `<task ref="name"/>`, or a task written out. */
const refFrom: Reader = (element, at, level) => {
  const { ref } = element.attributes;
  if (ref === undefined) return taskFrom(element, at, level + 1);
  if (Object.keys(element.attributes).length > 1 || element.children.length > 0)
    throw new Refusal(`${at}: a task with ref has nothing else`);
  return ref;
};

const textOf: Reader = (element, at) => {
  if (element.children.some((child) => child instanceof XmlElement))
    throw new Refusal(`${at}: only text is allowed here`);
  attributesOf(element, element.name === "input" ? ["name", "required"] : [], at);
  return element.text.trim();
};

const numberOf: Reader = (element, at, level) => {
  const text = String(textOf(element, at, level));
  if (!/^\d{1,15}$/.test(text)) throw new Refusal(`${at}: "${text.slice(0, 40)}" is not a whole number`);
  return Number(text);
};

const listOf =
  (name: string, read: Reader): Reader =>
  (element, at, level) => {
    attributesOf(element, [], at);
    return elementsIn(element, at).map((child, i) => {
      if (child.name !== name) throw new Refusal(`${at}: <${child.name}> is not known here, only <${name}>`);
      return read(child, `${at} › ${name} ${i + 1}`, level);
    });
  };

const oneTask: Reader = (element, at, level) => {
  attributesOf(element, element.name === "each" ? ["over", "max_parallel"] : [], at);
  const [inner, ...more] = elementsIn(element, at);
  if (inner?.name !== "task" || more.length > 0) throw new Refusal(`${at}: there must be one <task> in it`);
  return refFrom(inner, `${at} › task`, level);
};

const inputsOf: Reader = (element, at, level) => {
  attributesOf(element, [], at);
  return Object.fromEntries(
    elementsIn(element, at).map((input) => {
      if (input.name !== "input") throw new Refusal(`${at}: <${input.name}> is not known here, only <input>`);
      const { name, required } = input.attributes;
      const description = textOf(input, at, level);
      return [name ?? "", { ...(description !== "" && { description }), required: required !== "false" }];
    }),
  );
};

const CONTEXT = {
  inherit_context: textOf,
  accumulate_data: textOf,
  accumulation_format: textOf,
  fresh_context: textOf,
};
const BUDGET = { tasks: numberOf, ms: numberOf, tokens: numberOf };

const group =
  (elements: Readonly<Record<string, Reader>>): Reader =>
  (element, at, level) => {
    attributesOf(element, [], at);
    return fieldsOf(element, elements, at, level);
  };

const ELEMENTS: Readonly<Record<string, Reader>> = {
  description: textOf,
  instructions: textOf,
  hints: listOf("hint", textOf),
  inputs: inputsOf,
  context_management: group(CONTEXT),
  file_paths: listOf("path", textOf),
  max_depth: numberOf,
  return_expectations: textOf,
  handler: textOf,
  budget: group(BUDGET),
  steps: listOf("task", refFrom),
  each: oneTask,
  reduce: oneTask,
  director: oneTask,
  script: textOf,
  evaluator: oneTask,
  max_iterations: numberOf,
};

function fieldsOf(
  element: XmlElement,
  readers: Readonly<Record<string, Reader>>,
  at: string,
  level: number,
): Fields {
  const fields: Fields = {};
  for (const child of elementsIn(element, at)) {
    const read = Object.hasOwn(readers, child.name) ? readers[child.name] : undefined;
    if (read === undefined) throw new Refusal(`${at}: <${child.name}> is not known here`);
    if (child.name in fields) throw new Refusal(`${at}: <${child.name}> appears twice`);
    fields[child.name] = read(child, `${at} › ${child.name}`, level);
  }
  return fields;
}

function overOf(element: XmlElement, at: string): Fields {
  const { over, max_parallel: parallel } = element.attributes;
  if (parallel !== undefined && !/^\d{1,6}$/.test(parallel))
    throw new Refusal(`${at}: max_parallel is not a whole number`);
  return {
    ...(over !== undefined && { over }),
    ...(parallel !== undefined && { max_parallel: Number(parallel) }),
  };
}

function attributesOf(
  element: XmlElement,
  known: readonly string[],
  at: string,
): Readonly<Record<string, string>> {
  const unknown = Object.keys(element.attributes).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Refusal(`${at}: the attribute ${unknown} is not known here`);
  return element.attributes;
}

/** Text between elements is a mistake; comments are not kept by the parser. */
function elementsIn(element: XmlElement, at: string): readonly XmlElement[] {
  const stray = element.children.find((child) => child instanceof XmlText && child.text.trim() !== "");
  if (stray !== undefined) throw new Refusal(`${at}: there is text between its elements`);
  return element.children.filter((child) => child instanceof XmlElement);
}
