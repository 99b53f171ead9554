/** Makes the name of a task's output file from its subject, and reads such a name from a path in a plan. */
import { quoted } from "../../text/lines.ts";
import { SCRATCHPAD } from "../plan.ts";

/**
 * One name per subject, all different, also where upper and lower case are equal.
 *
 * ```ts
 * outputNames(["Review code-cleanup-optimizer", "Fix it!", "fix it"]);
 * // ["review_code-cleanup-optimizer.md", "fix_it.md", "fix_it-2.md"]
 * ```
 */
export function outputNames(subjects: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  /**
   * The next number to try for a name that is taken: for 100,000 equal names, starting from 2 each time is too slow.
   */
  const next = new Map<string, number>();
  return subjects.map((subject) => {
    const stem = stemOf(subject);
    let name = stem;
    for (let n = next.get(stem) ?? 2; taken.has(name); n += 1) {
      name = `${stem}-${n}`;
      next.set(stem, n + 1);
    }
    taken.add(name);
    return `${name}.md`;
  });
}

const FALLBACK = "task";
const MAX_STEM_CHARS = 80;
/** A file name holds 255 bytes; some are kept for a number and the ending. */
const MAX_STEM_BYTES = 200;
/** Characters beyond this cannot reach the name, unless the subject begins with hundreds of signs. */
const MAX_READ_CHARS = 1_000;
/** Names that Windows reserves for devices, with any ending. */
const DEVICE = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])$/i;

function stemOf(subject: string): string {
  const text = subject.slice(0, MAX_READ_CHARS).trim().toLowerCase().normalize().replace(/\s+/g, "_");
  // A leading dash would begin an option, and a combining mark needs a letter before it.
  const wanted = text.replace(/[^\p{L}\p{M}\p{N}_-]/gu, "").replace(/^[-\p{M}]+/u, "");
  const stem = cutToFit(wanted);
  if (!/[\p{L}\p{N}]/u.test(stem)) return FALLBACK;
  return DEVICE.test(stem) ? `${FALLBACK}-${stem}` : stem;
}

function cutToFit(text: string): string {
  const chars = [...text].slice(0, MAX_STEM_CHARS);
  while (bytesOf(chars.join("")) > MAX_STEM_BYTES) chars.pop();
  return chars.join("");
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** A file's name in the scratchpad, or a problem with what to write instead. */
type OutputName = { readonly name: string } | { readonly problem: string; readonly next: string };

/**
 * Reads a plan's `output_file`: a name alone, below the variable for the scratchpad, or below the scratchpad's own
 * path.
 */
export function outputNameIn(written: string, scratchpad?: string): OutputName {
  const name = nameIn(written, scratchpad);
  const refuse = (why: string): OutputName => ({
    problem: `${quoted(written)} ${why}`,
    next: `write ${SCRATCHPAD}/ and a file name, such as ${SCRATCHPAD}/${suggested(written)}`,
  });
  if (name === undefined) return refuse("is not directly in the scratchpad");
  const wrong = wrongWith(name);
  return wrong === undefined ? { name } : refuse(wrong);
}

const VARIABLE = /^\$(?:CLAUDE_SCRATCHPAD_DIR|\{CLAUDE_SCRATCHPAD_DIR\})[/\\]/;

function nameIn(written: string, scratchpad: string | undefined): string | undefined {
  const text = written.trim();
  const variable = VARIABLE.exec(text)?.[0];
  const folder = scratchpad?.replace(/[/\\]$/, "");
  const isInside =
    folder !== undefined &&
    folder !== "" &&
    text.startsWith(folder) &&
    /[/\\]/.test(text[folder.length] ?? "");
  const rest = variable ? text.slice(variable.length) : isInside ? text.slice(folder.length + 1) : text;
  return /[/\\]/.test(rest) ? undefined : rest;
}

const MAX_NAME_BYTES = 240;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

function wrongWith(name: string): string | undefined {
  if (name === "") return "names no file";
  if (name.length > MAX_NAME_BYTES || bytesOf(name) > MAX_NAME_BYTES)
    return `has a name of more than ${MAX_NAME_BYTES} bytes`;
  if (HIDDEN.test(name)) return "contains invisible or control characters";
  if (name.startsWith(".")) return "has a name that starts with a dot";
  if (name.startsWith("-")) return "has a name that starts with a dash";
  if (/[<>:"|?*$]/.test(name)) return `contains one of < > : " | ? * $`;
  if (/[. ]$/.test(name)) return "has a name that ends in a dot or a blank";
  if (DEVICE.test(name.split(".", 1)[0]!.trim())) return "is a device's name on Windows";
  return undefined;
}

function suggested(written: string): string {
  const last = written.slice(-MAX_READ_CHARS).split(/[/\\]/).at(-1)!;
  return `${stemOf(last.replace(/\.[a-z0-9]{1,8}$/i, ""))}.md`;
}
