/** How is a request laid out? Paragraphs, headings and lists; what was pasted into it is kept apart. */

export type Block =
  | { readonly is: "text" | "heading"; readonly text: string }
  | { readonly is: "list"; readonly bullets: readonly Bullet[] }
  /** Code, a stack trace, a log, a diff, a quoted mail, a box that is ticked already. */
  | { readonly is: "pasted"; readonly text: string };

/** `parts`: what is listed below it, one level or more further in. */
export type Bullet = { readonly text: string; readonly parts: readonly string[] };

export function blocksOf(text: string): readonly Block[] {
  const layout: Layout = { blocks: [], wasBlank: true };
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!;
    const end = pastedEnd(lines, at, layout);
    if (end > at) paste(layout, lines.slice(at, end));
    else if (isComment(line)) at = commentEnd(lines, at) - 1;
    else for (const one of unrolled(line)) addLine(layout, one);
    at = Math.max(end, at + 1);
  }
  return layout.blocks.map(finished);
}

const NUMBER = /(?:^|\s)(\(?)(\d{1,2})([.)]) +(?=\S)/g;

/** "1) do this 2) do that" in one line are several: what counts from 1, each number marked alike. */
function unrolled(line: string): readonly string[] {
  if (!/(?:^|\s)\(?1[.)] /.test(line)) return [line];
  const starts: number[] = [];
  let mark = "";
  for (const { index, 1: open, 2: number, 3: close } of line.matchAll(NUMBER)) {
    // A full stop after a number ends sentences as well: only what begins a line, or follows a colon, is counted.
    if (starts.length === 0 && close === "." && !mayBegin(line, index)) continue;
    if (Number(number) !== starts.length + 1 || (mark !== "" && mark !== `${open}${close}`)) continue;
    mark = `${open}${close}`;
    starts.push(index);
  }
  if (starts.length < 2) return [line];
  const pieces = starts.map((start, n) =>
    line
      .slice(start, starts[n + 1])
      .trim()
      .replace(/[,;]$/, ""),
  );
  return [line.slice(0, starts[0]), ...pieces].filter((piece) => piece.trim() !== "");
}

/** Where nothing stands before it, or a colon; few blanks are looked over. */
const mayBegin = (line: string, at: number) => /^$|:$/.test(line.slice(Math.max(0, at - 8), at).trimEnd());

type OpenBullet = { text: string; parts: string[]; readonly indent: number };
type Open =
  | { readonly is: "text" | "heading" | "pasted"; text: string }
  | { readonly is: "list"; readonly bullets: OpenBullet[] };
type Layout = { readonly blocks: Open[]; wasBlank: boolean };

const finished = (block: Open): Block =>
  block.is === "list"
    ? { is: "list", bullets: block.bullets.map(({ text, parts }) => ({ text, parts })) }
    : block;

function paste({ blocks }: Layout, lines: readonly string[]): void {
  const last = blocks.at(-1);
  if (last?.is === "pasted") last.text += `\n${lines.join("\n")}`;
  else blocks.push({ is: "pasted", text: lines.join("\n") });
}

/** Past the pasted lines that begin at `at`, or `at`. */
function pastedEnd(lines: readonly string[], at: number, { blocks, wasBlank }: Layout): number {
  const line = lines[at]!;
  const fence = /^ {0,8}(`{3,}|~{3,}|"{3})/.exec(line)?.[1];
  if (fence !== undefined && !line.slice(line.indexOf(fence) + fence.length).includes(fence)) {
    return Math.min(lines.length, next(lines, at, (one) => one.trimStart().startsWith(fence)) + 1);
  }
  if (/^(?:diff --git |@@ -\d)/.test(line)) {
    return next(lines, at, (one) => one.trim() === "");
  }
  const goesOn = blocks.at(-1)?.is === "pasted" && !wasBlank && /^(?: {2,}[^\s*•-]|Caused by: )/.test(line);
  return goesOn || isPasted(line) ? at + 1 : at;
}

/** The first such line behind `at`, or the end. */
function next(lines: readonly string[], at: number, isIt: (line: string) => boolean): number {
  let index = at + 1;
  while (index < lines.length && !isIt(lines[index]!)) index += 1;
  return index;
}

/** Lines that programs write, not people. */
const PASTED: readonly RegExp[] = [
  /^ *>/,
  /^ *at [^ ].*[:(]\d/,
  /^ *at [\w$.<>]+ ?\(/,
  /^ *File "[^"]*", line \d/,
  /^ *Traceback \(most recent/,
  /^ *(?:Uncaught )?[\w.$]{0,80}(?:Error|Exception): /,
  /^ *\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d/,
  /^ *\[?\d\d:\d\d:\d\d/,
  /^ *\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)[\]:]/,
  /^ *ERROR in /,
  /^ *npm (?:ERR!|error |warn )/i,
  /^ *[$❯] [^ ]/,
  /^ *\^[\^~]* *$/,
  /^ *goroutine \d+ \[/,
  /^ *thread '[^']*' panicked/,
  /^ *>? *\d+ \|/,
  /^ *\|.*\| *$/,
];

const isPasted = (line: string) => PASTED.some((pattern) => pattern.test(line));

const isComment = (line: string) => line.trimStart().startsWith("<!--");

/** What templates of issues put into them. */
const MAX_COMMENT_LINES = 50;

function commentEnd(lines: readonly string[], at: number): number {
  const end = lines.slice(at, at + MAX_COMMENT_LINES).findIndex((line) => line.includes("-->"));
  return at + Math.max(1, end + 1);
}

const BULLET = /^( *)(?:[-*+•–·‣▪◦]|\d{1,3}[.)]|\(\d{1,3}\)|[a-zA-Z]\)) +(?:\[[ xX]\] +)?(?=\S)/;

function addLine(layout: Layout, line: string): void {
  const { blocks, wasBlank } = layout;
  const text = line.trim();
  layout.wasBlank = text === "" || /^(?:[-=*_] ?){3,}$/.test(text);
  if (layout.wasBlank) return;
  const heading = headingOf(text);
  const bullet = BULLET.exec(line);
  const last = blocks.at(-1);
  if (heading !== undefined) blocks.push({ is: "heading", text: heading });
  else if (bullet && /\[[xX]\]/.test(bullet[0])) paste(layout, [line]);
  else if (bullet) addBullet(blocks, line.slice(bullet[0].length).trim(), bullet[1]!.length);
  else if (last?.is === "list" && belongsTo(last.bullets.at(-1)!, line, wasBlank))
    continueBullet(last.bullets.at(-1)!, text);
  else if (last?.is === "text" && !wasBlank) last.text += `\n${text}`;
  else blocks.push({ is: "text", text });
}

/** Further in than the bullet, or going on in lower case. */
const belongsTo = ({ indent }: OpenBullet, line: string, wasBlank: boolean) =>
  line.length - line.trimStart().length > indent || (!wasBlank && line[0] !== line[0]!.toUpperCase());

function headingOf(text: string): string | undefined {
  const hashes = /^#{1,6} +/.exec(text)?.[0].length ?? 0;
  if (hashes > 0)
    return text
      .slice(hashes)
      .replace(/#{1,6}$/, "")
      .trim();
  const isBold = text.length > 4 && text.startsWith("**") && (text.endsWith("**") || text.endsWith("**:"));
  return isBold && !text.slice(2, -3).includes("**") ? text.replace(/^\*\*|\*\*:?$/g, "") : undefined;
}

function addBullet(blocks: Open[], text: string, indent: number): void {
  const last = blocks.at(-1);
  const above = last?.is === "list" ? last.bullets.at(-1) : undefined;
  if (above && indent > above.indent + 1) above.parts.push(text);
  else if (last?.is === "list") last.bullets.push({ text, parts: [], indent });
  else blocks.push({ is: "list", bullets: [{ text, parts: [], indent }] });
}

function continueBullet(open: OpenBullet, text: string): void {
  if (open.parts.length > 0) open.parts.push(`${open.parts.pop()!} ${text}`);
  else open.text += ` ${text}`;
}
