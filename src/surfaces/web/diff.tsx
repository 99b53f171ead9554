/** Shows a change file by file, with syntax colours as in editors. */
import { useState } from "preact/hooks";
import { useAnswer } from "./answer.ts";
import { api } from "./api.ts";
import { harmless, line, plural } from "./format.ts";

/** Files beyond this total of lines are folded at first. */
const OPEN_LINES = 600;
const MAX_FILE_LINES = 2_000;
const MAX_LINE_CHARS = 2_000;
/** Longer lines are not code that a person reads. */
const MAX_COLOURED_CHARS = 300;

type DiffProps = { readonly run: string; readonly from: string; readonly to: string };

export function Diff({ run, from, to }: DiffProps) {
  const { value, error } = useAnswer(() => api.diff(run, from, to), [run, from, to]);
  return (
    <>
      <h3>Change</h3>
      {error && <p class="bad">{harmless(error)}</p>}
      <DiffFiles diff={value?.diff ?? ""} />
    </>
  );
}

export function DiffFiles({ diff }: { readonly diff: string }) {
  let before = 0;
  return (
    <>
      {filesIn(diff).map(({ name, lines }) => {
        before += lines.length;
        return <File key={name} name={name} lines={lines} isOpen={before <= OPEN_LINES} />;
      })}
    </>
  );
}

type FileProps = { readonly name: string; readonly lines: readonly string[]; readonly isOpen: boolean };

function filesIn(diff: string): readonly Omit<FileProps, "isOpen">[] {
  return diff
    .split(/^diff --git /m)
    .slice(1)
    .map((part) => {
      const [head = "", ...lines] = part.trimEnd().split("\n");
      const start = lines.findIndex((text) => text.startsWith("@@"));
      const name =
        lines.find((text) => text.startsWith("+++ b/"))?.slice(6) ?? head.replace(/^a\/.* b\//, "");
      return { name, lines: start < 0 ? lines : lines.slice(start) };
    });
}

function File({ name, lines, isOpen }: FileProps) {
  const [open, setOpen] = useState(isOpen);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code>{line(name, 200)}</code> <span class="quiet">{plural(lines.length, "line")}</span>
      </summary>
      {open && (
        <pre class="diff" tabIndex={0} role="group" aria-label={`Change of ${line(name, 200)}`}>
          {lines.slice(0, MAX_FILE_LINES).map((text) => (
            <span class={classOf(text)}>
              {coloured(harmless(text.slice(0, MAX_LINE_CHARS)))}
              {"\n"}
            </span>
          ))}
          {lines.length > MAX_FILE_LINES && `… ${lines.length - MAX_FILE_LINES} more lines`}
        </pre>
      )}
    </details>
  );
}

const classOf = (text: string): string =>
  text.startsWith("@@") ? "hunk" : text.startsWith("+") ? "add" : text.startsWith("-") ? "del" : "same";

/** Strings, comments and the words that most languages share; recognised by their form only. */
const TOKENS = new RegExp(
  [
    /(?<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)/,
    /(?<note>\/\/.*|(?<=^.|\s)#.*|\/\*.*)/,
    /(?<word>\b(?:async|await|break|case|class|const|def|else|enum|export|fn|for|from|func|function|if|import|in|interface|let|new|of|package|pub|return|struct|switch|this|throw|try|type|var|while)\b)/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);

function coloured(text: string) {
  if (text.length > MAX_COLOURED_CHARS || text.startsWith("@@")) return text;
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(TOKENS)) {
    const [kind] = Object.entries(found.groups ?? {}).find(([, part]) => part !== undefined) ?? [];
    parts.push(text.slice(at, found.index), <i class={`code-${kind}`}>{found[0]}</i>);
    at = found.index + found[0].length;
  }
  return [...parts, text.slice(at)];
}
