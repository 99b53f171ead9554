/** What is a request called that is one task? By its first line that says something: no heading, no greeting. */
import { hasWord } from "../plain.ts";
import { subjectOf } from "../wording.ts";
import { linesOf, sentencesOf } from "./text.ts";

const GREETING = /^(?:hi|hello|hey|dear|good (?:morning|evening|afternoon))\b[^.!?]{0,30}[,.!]?$/i;
const MAX_READ_CHARS = 5_000;

export function titleOf(request: string, maxChars: number): string {
  const lines = linesOf(request.slice(0, MAX_READ_CHARS)).filter(({ text }) => hasWord(text));
  const said = lines.filter(
    ({ is, text }) => (is === "text" || is === "item") && !GREETING.test(text.trim()),
  );
  const [first = ""] = sentencesOf((said[0] ?? lines[0])?.text ?? "");
  return subjectOf(first.replace(/^[#*_>\s|-]+|[*_]+$/g, ""), maxChars) || "Do what the request says";
}
