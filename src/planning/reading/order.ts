/** In what order do clauses stand? What waits for what, by words of order; each waits only for earlier ones. */
import type { Clause } from "../reading.ts";
import { type Draft, MAX_NAMES, type Order } from "./draft.ts";
import type { Lexicon } from "./lexicon.ts";
import { contentWords } from "./sequence.ts";

const MAX_CLAUSES = 200;
/** Of one clause. */
export const MAX_ITEMS = 200;

type Placed = {
  readonly draft: Draft;
  readonly context: string[];
  readonly files: Set<string>;
  readonly after: Set<number>;
};

/** Takes clauses as they are read, and gives them as they are done. */
export class Sequence {
  readonly #lexicon: Lexicon;
  readonly #placed: Placed[] = [];
  /** Since the last "then", which waits for all of them. */
  #stage: number[] = [];
  /** By index, as they were read. */
  readonly #read: number[] = [];
  /** What was said before the first clause. */
  readonly #before: { context: string[]; files: string[] } = { context: [], files: [] };
  /** Clauses and items for which there was no room. */
  #leftOut = 0;

  constructor(lexicon: Lexicon) {
    this.#lexicon = lexicon;
  }

  get size(): number {
    return this.#placed.length;
  }

  get leftOut(): number {
    return this.#leftOut;
  }

  leaveOut(count: number): void {
    this.#leftOut += Math.max(0, count);
  }

  add(draft: Draft, order: Order): void {
    const isNamed = order.is === "named" || (order.is === "previous" && order.isNamed);
    const known = isNamed ? this.#likes(draft) : undefined;
    const previous = order.is === "previous" ? this.#read.slice(-order.of) : [];
    if (known === undefined && this.#placed.length >= MAX_CLAUSES) {
      this.leaveOut(1);
      return;
    }
    const index = known ?? this.#placed.length;
    if (known === undefined)
      this.#placed.push({
        draft: { ...draft, items: this.#fitting(draft.items) },
        context: [],
        files: new Set(draft.files),
        after: new Set(this.#waits(order)),
      });
    for (const one of previous) if (one !== index) this.#wait(index, one);
    if (order.is === "then" || order.is === "finally") this.#stage = [];
    if (known === undefined) this.#stage.push(index);
    this.#read.push(index);
  }

  /** To the clause above, or to the first one. */
  say(context: string, files: readonly string[]): void {
    const to = this.#placed.at(-1) ?? { context: this.#before.context, files: undefined };
    if (context !== "" && to.context.length < MAX_NAMES) to.context.push(context);
    for (const file of files) {
      if (to.files === undefined) this.#before.files.push(file);
      else if (to.files.size < MAX_NAMES) to.files.add(file);
    }
  }

  /** What was said last was no more than a name for what follows. */
  unsay(context: string): void {
    const said = this.#placed.at(-1)?.context ?? this.#before.context;
    if (said.at(-1) === context) said.pop();
  }

  get said(): { readonly context: readonly string[]; readonly files: readonly string[] } {
    return this.#before;
  }

  /** The last clause once more, with what is listed below it. */
  list(items: readonly string[]): void {
    const last = this.#placed.at(-1);
    if (!last) return;
    const { draft } = last;
    const all = this.#fitting([...draft.items, ...items]);
    const object = withoutWith(draft.object, this.#lexicon);
    // Below one thing that is new are its parts.
    const isWith = object !== draft.object || /^an?\s/i.test(object);
    const itemsAre = draft.itemsAre ?? (isWith ? "with" : "each");
    this.#placed[this.#placed.length - 1] = { ...last, draft: { ...draft, object, items: all, itemsAre } };
  }

  /** The last clause once more, with what is said of it below it. */
  must(lines: readonly string[]): void {
    const last = this.#placed.at(-1);
    if (!last || lines.length === 0) return;
    const musts = this.#fitting([...(last.draft.musts ?? []), ...lines]);
    this.#placed[this.#placed.length - 1] = { ...last, draft: { ...last.draft, musts } };
  }

  /** What is listed, as far as there is room; the rest is counted. */
  #fitting(items: readonly string[]): readonly string[] {
    this.leaveOut(items.length - MAX_ITEMS);
    return items.slice(0, MAX_ITEMS);
  }

  get lastDraft(): Draft | undefined {
    return this.#placed.at(-1)?.draft;
  }

  /** Takes back the last clause: what is listed below it says the same in parts. */
  takeBack(): void {
    const last = this.#placed.pop();
    if (!last) return;
    this.#stage = this.#stage.filter((index) => index < this.#placed.length);
    while ((this.#read.at(-1) ?? -1) >= this.#placed.length) this.#read.pop();
    this.say(last.draft.text, [...last.files]);
    for (const one of last.context) this.say(one, []);
  }

  clauses(): readonly Clause[] {
    const first = this.#placed[0];
    if (first) {
      first.context.unshift(...this.#before.context);
      for (const file of this.#before.files) first.files.add(file);
    }
    const order = sorted(this.#placed.map(({ after }) => after));
    const place = new Map(order.map((index, at) => [index, at]));
    return order.map((index) => {
      const { draft, context, files, after } = this.#placed[index]!;
      const earlier = [...after].map((one) => place.get(one)!).sort((a, b) => a - b);
      return { ...draft, context, files: [...files], after: earlier };
    });
  }

  #waits(order: Order): readonly number[] {
    if (order.is === "then") return this.#stage;
    if (order.is === "alike") return [...(this.#placed[this.#read.at(-1) ?? -1]?.after ?? [])];
    if (order.is === "finally") {
      const waited = new Set(this.#placed.flatMap(({ after }) => [...after]));
      return this.#placed.flatMap((_, index) => (waited.has(index) ? [] : [index]));
    }
    if (order.is !== "about") return [];
    const words = new Set(order.words);
    const about = this.#placed.flatMap(({ draft }, index) =>
      this.#wordsOf(draft).some((word) => words.has(word)) ? [index] : [],
    );
    return about.length === 0 && order.isDone ? this.#stage : about;
  }

  /** A clause that was asked for already in other words: the same verb, and an object that speaks of the same. */
  #likes(draft: Draft): number | undefined {
    const words = new Set(this.#objectOf(draft));
    const found = this.#placed.findLastIndex(
      ({ draft: one }) =>
        one.verb === draft.verb && (words.size === 0 || this.#objectOf(one).some((word) => words.has(word))),
    );
    return found === -1 ? undefined : found;
  }

  #wait(index: number, on: number): void {
    if (!reaches(this.#placed, on, index)) this.#placed[index]!.after.add(on);
  }

  #objectOf({ object }: Draft): readonly string[] {
    return contentWords(split(object), this.#lexicon);
  }

  #wordsOf({ text }: Draft): readonly string[] {
    return contentWords(split(text), this.#lexicon);
  }
}

/** "a todo app with", "an API with these endpoints": above a list, that is what the list is. */
function withoutWith(object: string, { words }: Lexicon): string {
  const padded = `${object.toLowerCase()} `;
  const at = words.lists.with.map((phrase) => padded.indexOf(` ${phrase} `)).filter((one) => one > 0);
  return at.length === 0 ? object : object.slice(0, Math.min(...at));
}

const split = (text: string) => text.split(/[\s,;.]+/).map((word) => ({ lower: word.toLowerCase() }));

/** Whether `from` waits for `to`, directly or not. */
function reaches(placed: readonly Placed[], from: number, to: number): boolean {
  const open = [from];
  const seen = new Set<number>();
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    if (index === to) return true;
    if (seen.has(index)) continue;
    seen.add(index);
    open.push(...placed[index]!.after);
  }
  return false;
}

/** As they came, except that each comes after what it waits for. There are no cycles: `#wait` makes none. */
function sorted(after: readonly ReadonlySet<number>[]): readonly number[] {
  const done = new Set<number>();
  const visit = (index: number) => {
    if (done.has(index)) return;
    for (const one of [...after[index]!].sort((a, b) => a - b)) visit(one);
    done.add(index);
  };
  for (const index of after.keys()) visit(index);
  return [...done];
}
