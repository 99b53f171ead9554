/** Reads a template from XML text. Refuses entities, document types and unknown elements; limits sizes. */
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
    if (thrown instanceof RangeError)
      return { problem: `XML: elements are nested too deep, at most ${MAX_LEVELS} levels of tasks are read` };
    return { problem: `XML: ${messageOf(thrown).split("\n")[0]}` };
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

/** The elements of a task by the type of their contents: texts, numbers, lists, one task, or a group of elements. */
const TEXTS = ["description", "instructions", "return_expectations", "handler", "script"];
const NUMBERS = ["max_depth", "max_iterations", "tasks", "ms", "tokens"];
const LISTS: Readonly<Record<string, string>> = { hints: "hint", file_paths: "path", steps: "task" };
const ONE_TASK = ["each", "reduce", "director", "evaluator"];
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  context_management: ["inherit_context", "accumulate_data", "accumulation_format", "fresh_context"],
  budget: ["tasks", "ms", "tokens"],
  inputs: [],
};
const IN_TASK = [
  ...TEXTS,
  ...["max_depth", "max_iterations"],
  ...Object.keys(LISTS),
  ...ONE_TASK,
  ...Object.keys(GROUPS),
];

const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  task: ["name", "type", "subtype", "ref"],
  each: ["over", "max_parallel"],
  input: ["name", "required"],
};

function taskFrom(element: XmlElement, at: string, level: number): Fields {
  if (level > MAX_LEVELS) throw new Refusal(`${at}: more than ${MAX_LEVELS} levels`);
  const { ref, ...attributes } = attributesOf(element, at);
  if (ref !== undefined) throw new Refusal(`${at}: ref is for a task in a group`);
  const each = elementsIn(element, at).find(({ name }) => name === "each");
  return {
    ...attributes,
    ...fieldsOf(element, IN_TASK, at, level),
    ...(each && overOf(each, `${at} › each`)),
  };
}

function fieldsOf(element: XmlElement, known: readonly string[], at: string, level: number): Fields {
  const fields: Fields = {};
  for (const child of elementsIn(element, at)) {
    if (!known.includes(child.name)) throw new Refusal(`${at}: <${child.name}> is not known here`);
    if (child.name in fields) throw new Refusal(`${at}: <${child.name}> appears twice`);
    fields[child.name] = contentOf(child, `${at} › ${child.name}`, level);
  }
  return fields;
}

function contentOf(element: XmlElement, at: string, level: number): unknown {
  const { name } = element;
  const { ref } = attributesOf(element, at);
  if (name === "task" && ref === undefined) return taskFrom(element, at, level + 1);
  if (name === "task") {
    if (Object.keys(element.attributes).length > 1 || element.children.length > 0)
      throw new Refusal(`${at}: a task with ref has nothing else`);
    return ref;
  }
  if (name === "inputs") return inputsIn(element, at);
  if (Object.hasOwn(GROUPS, name)) return fieldsOf(element, GROUPS[name]!, at, level);
  if (Object.hasOwn(LISTS, name)) {
    const inner = LISTS[name]!;
    return childrenOf(element, inner, at).map((child, i) =>
      contentOf(child, `${at} › ${inner} ${i + 1}`, level),
    );
  }
  if (ONE_TASK.includes(name)) {
    const [inner, ...more] = elementsIn(element, at);
    if (inner?.name !== "task" || more.length > 0) throw new Refusal(`${at}: there must be one <task> in it`);
    return contentOf(inner, `${at} › task`, level);
  }
  return NUMBERS.includes(name) ? wholeNumber(textOf(element, at), at) : textOf(element, at);
}

function textOf(element: XmlElement, at: string): string {
  if (element.children.some((child) => child instanceof XmlElement))
    throw new Refusal(`${at}: only text is allowed here`);
  return element.text.trim();
}

function wholeNumber(text: string, at: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new Refusal(`${at}: "${text.slice(0, 40)}" is not a whole number`);
  return Number(text);
}

function inputsIn(element: XmlElement, at: string): Fields {
  const inputs = new Map<string, Fields>();
  for (const input of childrenOf(element, "input", at)) {
    const { name = "", required } = attributesOf(input, at);
    if (inputs.has(name)) throw new Refusal(`${at}: <input name="${name}"> appears twice`);
    const description = textOf(input, at);
    inputs.set(name, { ...(description !== "" && { description }), required: required !== "false" });
  }
  return Object.fromEntries(inputs);
}

function overOf(element: XmlElement, at: string): Fields {
  const { over, max_parallel: parallel } = element.attributes;
  return {
    ...(over !== undefined && { over }),
    ...(parallel !== undefined && { max_parallel: wholeNumber(parallel, `${at} max_parallel`) }),
  };
}

function attributesOf(element: XmlElement, at: string): Readonly<Record<string, string>> {
  const known = ATTRIBUTES[element.name] ?? [];
  const unknown = Object.keys(element.attributes).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Refusal(`${at}: the attribute ${unknown} is not known here`);
  return element.attributes;
}

function childrenOf(element: XmlElement, name: string, at: string): readonly XmlElement[] {
  const children = elementsIn(element, at);
  const other = children.find((child) => child.name !== name);
  if (other) throw new Refusal(`${at}: <${other.name}> is not known here, only <${name}>`);
  return children;
}

/** Text between elements is a mistake; the parser drops comments. */
function elementsIn(element: XmlElement, at: string): readonly XmlElement[] {
  const stray = element.children.find((child) => child instanceof XmlText && child.text.trim() !== "");
  if (stray !== undefined) throw new Refusal(`${at}: there is text between its elements`);
  return element.children.filter((child) => child instanceof XmlElement);
}
