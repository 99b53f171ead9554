/** Turns terminal output into plain lines: without colours, and with only the final state of overwritten lines. */

export const plainLines = (text: string): readonly string[] => text.split("\n").map(plainLine);

function plainLine(raw: string): string {
  const line = raw.includes("\u001b") || raw.includes("\u009b") ? raw.replace(SEQUENCES, "") : raw;
  const end = line.replace(/\r+$/, "");
  return end.slice(end.lastIndexOf("\r") + 1);
}

/** Colours and cursor moves; titles and links, which end with a bell or a string terminator; two-character escapes. */
const SEQUENCES = new RegExp(
  [
    String.raw`\u001b\][^\u0007\u001b]{0,2000}(?:\u0007|\u001b\\)`,
    String.raw`(?:\u001b\[|\u009b)[0-?]{0,100}[ -/]{0,20}[@-~]`,
    String.raw`\u001b[ -/]{0,20}[0-~]`,
  ].join("|"),
  "g",
);
