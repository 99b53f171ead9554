/** Formats what a person is asked to approve: on one line, with visible line ends, and a note of hidden parts. */
import { redactCommand, redactor } from "./redact.ts";

/**
 * A person must know what they approve, so the text says how much was cut off and whether a part was hidden as a
 * secret.
 */
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
/** With the words around it, this is shorter than the longest line that a terminal is shown. */
const MAX_CHARS = 300;
