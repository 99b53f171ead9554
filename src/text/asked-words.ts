/** Shows what a person is asked to agree to: in one line with its line ends in sight, and what is left out is said. */
import { redactCommand, redactor } from "./redact.ts";

/** Nobody agrees to what they have not seen: an end that is cut, or a part that only looks like a secret and runs. */
export function wordsToAgree(text: string): string {
  const redacted = redactCommand(text, plain);
  const line = redacted.replace(/\r\n|[\r\n\u2028\u2029]/g, " ⏎ ");
  const more = line.length - MAX_CHARS;
  const left = [
    ...(more > 0 ? [`${more} more characters`] : []),
    ...(redacted === text ? [] : ["a part that looks like a secret is not shown"]),
  ];
  const shown = more > 0 ? `${line.slice(0, MAX_CHARS)}…` : line;
  return left.length === 0 ? shown : `${shown} (${left.join("; ")}: read the file)`;
}

const plain = redactor([]);
/** With the words around it, less than what a terminal is shown of one line. */
const MAX_CHARS = 300;
