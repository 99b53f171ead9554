/** Estimates the tokens of a text, and cuts a text to a number of tokens with a line about the cut. */

/** Four bytes per token: about right for English and code, and it needs no model. */
const BYTES = 4;

export const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES);

/** The start of a text, and a line that says how much of it is shown. */
export function cutTo(text: string, maxTokens: number, where = ""): string {
  const all = tokensOf(text);
  if (all <= maxTokens) return text;
  const kept = startOf(text, maxTokens);
  return `${kept}\n[cut: about ${quantity(tokensOf(kept))} of ${quantity(all)} tokens are shown${where}]`;
}

function startOf(text: string, maxTokens: number): string {
  const bytes = Buffer.from(text.slice(0, maxTokens * BYTES));
  return new TextDecoder().decode(bytes.subarray(0, maxTokens * BYTES), { stream: true });
}

export const quantity = (count: number): string => count.toLocaleString("en-US");
