/** Finds the plan in an agent's answer: the last JSON object with a list of tasks, without invisible characters. */
import { findJson, type Json, type JsonList, type JsonObject, placeOf } from "../../text/json-salvage.ts";
import { visible } from "../plain.ts";

type AnswerJson =
  | { readonly is: "json"; readonly text: string }
  | { readonly is: "none"; readonly reason: string };

/**
 * Never throws, and takes time in proportion to the text. An answer that was cut off is refused, because a plan must be
 * complete.
 */
export function answerJson(text: string): AnswerJson {
  let plan: Plan | undefined;
  let broken: { readonly at: number; readonly why: string } | undefined;
  for (const found of findJson(text)) {
    if (found.is === "whole") {
      plan = better(plan, planIn(found.value));
      continue;
    }
    if (found.open.some((value) => isPlan(value) || isTasks(value))) broken = found;
  }
  if (plan) return { is: "json", text: jsonOf(plan) };
  if (broken) {
    const reason = `the plan is not JSON at ${placeOf(text, broken.at)}: ${broken.why}; send it whole`;
    return { is: "none", reason };
  }
  const nothing = text.trim() === "" ? "the answer is empty" : 'there is no JSON object with "tasks" in it';
  return { is: "none", reason: `${nothing}; answer with {"goal": "…", "tasks": […]}` };
}

/** The last plan counts; but a plan without tasks may be a quotation of the prompt's example. */
const better = (before: Plan | undefined, now: Plan | undefined): Plan | undefined =>
  now === undefined || (before && sizeOf(now) === 0) ? before : now;

type Plan = JsonObject | JsonList;

const sizeOf = (plan: Plan): number => (isObject(plan) ? (plan.get("tasks") as JsonList) : plan).length;

/** The value itself, or a plan that is wrapped in it once: `{"plan": {…}}`. */
function planIn(value: Json): Plan | undefined {
  if (isPlan(value) || isTasks(value)) return value;
  if (!isObject(value)) return undefined;
  for (const inner of value.values()) if (isPlan(inner)) return inner;
  return undefined;
}

const isObject = (value: Json): value is JsonObject => value instanceof Map;
const isList = (value: Json | undefined): value is JsonList => Array.isArray(value);
const isPlan = (value: Json): value is JsonObject => isObject(value) && isList(value.get("tasks"));

/** True for a bare list of tasks; other lists in the text are ignored. */
function isTasks(value: Json): value is JsonList {
  const first = isList(value) ? value[0] : undefined;
  return first !== undefined && isObject(first) && first.has("description");
}

function jsonOf(value: Json): string {
  if (typeof value === "string") return JSON.stringify(visible(value));
  if (isList(value)) return `[${value.map(jsonOf).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const fields = [...value].map(([key, inner]) => `${JSON.stringify(visible(key))}:${jsonOf(inner)}`);
  return `{${fields.join(",")}}`;
}
