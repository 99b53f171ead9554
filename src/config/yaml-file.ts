/** What does skein.yaml say? Its keys with their places, or what is wrong and where; within limits. */
import {
  type Document,
  isMap,
  isScalar,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type YAMLMap,
} from "yaml";
import { messageOf } from "../core/failure.ts";
import { GROUPS } from "./keys.ts";
import { type ConfigEntry, type ConfigProblem, wrongKey } from "./problem.ts";

export type ConfigFile = { readonly name: string; readonly text: string };
type Found = { readonly entries: readonly ConfigEntry[]; readonly problems: readonly ConfigProblem[] };

const MAX_CHARS = 1_000_000;
/** Copies by anchors: a file of ten lines can otherwise become gigabytes. */
const MAX_ALIASES = 100;

export function readFileText(file: ConfigFile): Found {
  if (file.text.length <= MAX_CHARS) return new Reader(file).read();
  const message = `is longer than ${MAX_CHARS} characters`;
  return { entries: [], problems: [{ key: "", message, origin: file.name }] };
}

/** What follows the first few errors of syntax is mostly their echo. */
const MAX_SYNTAX_ERRORS = 3;

class Reader {
  readonly #file: ConfigFile;
  readonly #lines = new LineCounter();
  readonly #entries: ConfigEntry[] = [];
  readonly #problems: ConfigProblem[] = [];

  constructor(file: ConfigFile) {
    this.#file = file;
  }

  read(): Found {
    const document = parseDocument(this.#file.text, { lineCounter: this.#lines, prettyErrors: false });
    for (const { message, pos } of [...document.errors, ...document.warnings].slice(0, MAX_SYNTAX_ERRORS))
      this.#refuse("", `is not valid YAML: ${message}`, this.#place(pos[0]));
    const { contents } = document;
    if (this.#problems.length > 0 || contents === null || isNothing(contents)) return this.#found();
    if (isMap(contents)) this.#group(contents, "", document);
    else
      this.#refuse(
        "",
        "must contain keys with values, such as `workers: 4`",
        this.#place(contents.range?.[0]),
      );
    return this.#found();
  }

  #found(): Found {
    return { entries: this.#entries, problems: this.#problems };
  }

  #group(map: YAMLMap, above: string, document: Document): void {
    for (const { key: name, value } of map.items as Pair<Node, Node | null>[]) {
      const place = this.#place(name.range?.[0]);
      const key = above + (isScalar(name) ? String(name.value) : "?");
      const wrong = wrongKey(key);
      if (isMap(value) && GROUPS.has(key)) this.#group(value, `${key}.`, document);
      else if (isNothing(value) && GROUPS.has(key))
        continue; // All that was in it is commented out.
      else if (wrong !== undefined) this.#refuse(key, wrong, place);
      else if (value === null || isNothing(value))
        this.#refuse(key, "has no value: give one, or remove it", place);
      else this.#entry(key, value, document, place);
    }
  }

  #entry(key: string, node: Node, document: Document, place: Place): void {
    try {
      const value: unknown = node.toJS(document, { maxAliasCount: MAX_ALIASES });
      this.#entries.push({ key, value, isText: false, ...place });
    } catch (error) {
      if (!(error instanceof ReferenceError)) throw error;
      this.#refuse(key, `cannot be read: ${messageOf(error)}`, place); // An alias of nothing, or too many of them.
    }
  }

  #refuse(key: string, message: string, place: Place): void {
    this.#problems.push({ key, message, ...place });
  }

  #place(offset: number | undefined): Place {
    const { line, col } = this.#lines.linePos(offset ?? 0);
    return { origin: this.#file.name, line, column: col };
  }
}

type Place = { readonly origin: string; readonly line: number; readonly column: number };

const isNothing = (node: unknown) => node === null || (isScalar(node) && node.value === null);
