/** Finds the template that fits a request by type, hints and words, with a published score. */
import type { TaskError } from "../ports/subtasks.ts";
import { closest } from "../text/closest.ts";
import { taskFailure } from "./errors.ts";
import { termsOf } from "./relevance.ts";
import type { SubtaskRequest } from "./request.ts";
import { readTemplate, type TaskTemplate, type Template } from "./template.ts";
import { readTemplateXml } from "./template-xml.ts";

export type Registered = { readonly template: Template } | { readonly error: TaskError };

export type TemplateMatch = { readonly template: Template; readonly score: number };

export type TemplateWish = Pick<SubtaskRequest, "type" | "description" | "template_hints" | "subtype">;

/**
 * score = 5 × type + 3 × hints + 2 × words, from 0 to 10:
 *   type   1 if the template has the request's type, 0.2 if it takes any ("*"), else 0
 *   hints  the share of the request's hints that are the template's name or one of its hints
 *   words  2 × shared / (the request's + the template's), of the distinct terms of the descriptions
 * The highest score wins, and of equal ones the template that was registered first. Below 1 nothing fits.
 */
export const MATCH_WEIGHTS = { type: 5, anyType: 1, hints: 3, words: 2, least: 1 };

/** Caches its answers until another template is registered. */
export class TemplateRegistry {
  readonly #templates: Template[] = [];
  readonly #places = new Map<string, number>();
  /** The template files, by the templates' names. */
  readonly #files = new Map<string, string>();
  /** For each term, hint or type, the indexes of the templates that have it. */
  readonly #terms = new Map<string, number[]>();
  readonly #hints = new Map<string, number[]>();
  readonly #types = new Map<string, number[]>();
  readonly #termCounts: number[] = [];
  readonly #answers = new Map<string, TemplateMatch | undefined>();

  /** `file`: where it was read, relative to the repository's root. */
  register(template: TaskTemplate, file?: string): Registered {
    const read = readTemplate(template);
    if ("problem" in read) return { error: taskFailure("input_validation_failure", read.problem) };
    return this.#add(read.template, file);
  }

  registerXml(text: string, file?: string): Registered {
    const read = readTemplateXml(text);
    if ("problem" in read) return { error: taskFailure("xml_validation_failure", read.problem) };
    return this.#add(read.template, file);
  }

  get(name: string): Template | undefined {
    const place = this.#places.get(name);
    return place === undefined ? undefined : this.#templates[place];
  }

  /** The file of a template, which contains all words of its task and is therefore no context for it. */
  fileOf(name: string): string | undefined {
    return this.#files.get(name);
  }

  match(request: TemplateWish): TemplateMatch | undefined {
    const key = JSON.stringify([request.type, request.subtype, request.template_hints, request.description]);
    if (this.#answers.has(key)) return this.#answers.get(key);
    const found = this.#best(request);
    if (this.#answers.size >= MAX_ANSWERS) this.#answers.delete(this.#answers.keys().next().value!);
    this.#answers.set(key, found);
    return found;
  }

  /** At most three types and names that a request without a fitting template may have meant. */
  near({
    type,
    template_hints: given = [],
  }: Pick<TemplateWish, "type" | "template_hints">): readonly string[] {
    const names = new Set(this.#templates.flatMap((one) => [one.type, one.name]));
    names.delete(ANY);
    const found = [type, ...given].flatMap((word) => closest(plain(word), [...names]));
    return [...new Set(found)].slice(0, MAX_NEAR);
  }

  #add(template: Template, file: string | undefined): Registered {
    if (this.#places.has(template.name))
      return {
        error: taskFailure("input_validation_failure", `template: "${template.name}" is registered already`),
      };
    const place = this.#templates.push(template) - 1;
    this.#places.set(template.name, place);
    if (file !== undefined) this.#files.set(template.name, file);
    const terms = new Set(termsOf(template.description));
    this.#termCounts.push(terms.size);
    for (const term of terms) list(this.#terms, term).push(place);
    for (const hint of new Set([template.name, ...(template.hints ?? [])].map(plain)))
      list(this.#hints, hint).push(place);
    list(this.#types, template.type).push(place);
    this.#answers.clear();
    return { template };
  }

  #best(request: TemplateWish): TemplateMatch | undefined {
    const scores = this.#scores(request);
    let best = -1;
    for (let place = 0; place < scores.length; place += 1)
      if (scores[place]! > (best < 0 ? 0 : scores[best]!) && this.#mayBe(place, request)) best = place;
    if (best < 0 || scores[best]! < MATCH_WEIGHTS.least) return undefined;
    return { template: this.#templates[best]!, score: scores[best]! };
  }

  #scores({ type, description, template_hints: given = [] }: TemplateWish): Float64Array {
    const scores = new Float64Array(this.#templates.length);
    const terms = new Set(termsOf(description));
    for (const term of terms) for (const place of this.#terms.get(term) ?? []) scores[place]! += 1;
    for (let place = 0; place < scores.length; place += 1)
      if (scores[place]! > 0)
        scores[place]! *= (2 * MATCH_WEIGHTS.words) / (terms.size + this.#termCounts[place]!);
    for (const place of this.#types.get(type) ?? []) scores[place]! += MATCH_WEIGHTS.type;
    if (type !== ANY) for (const place of this.#types.get(ANY) ?? []) scores[place]! += MATCH_WEIGHTS.anyType;
    const hints = new Set(given.map(plain));
    for (const hint of hints)
      for (const place of this.#hints.get(hint) ?? []) scores[place]! += MATCH_WEIGHTS.hints / hints.size;
    return scores;
  }

  /** A template for one subtype does not fit another. */
  #mayBe(place: number, { subtype }: TemplateWish): boolean {
    const own = this.#templates[place]!.subtype;
    return own === undefined || subtype === undefined || own === subtype;
  }
}

const ANY = "*";
const MAX_ANSWERS = 1_000;
const MAX_NEAR = 3;

const plain = (hint: string) => hint.toLowerCase().replaceAll(/[\s_-]+/g, "-");

function list(map: Map<string, number[]>, key: string): number[] {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made: number[] = [];
  map.set(key, made);
  return made;
}
