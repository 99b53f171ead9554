/** Which commands are in a shell line? Parses enough grammar to see what is called; expands nothing. */

/** "CI=1 node a.js && npm run 'b c'" is [["CI=1", "node", "a.js"], ["npm", "run", "b c"]]. */
export function commandsIn(line: string): readonly (readonly string[])[] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  const endWord = () => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  const endCommand = () => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
  };
  for (const [token] of line.replaceAll(/\\\r?\n/g, " ").matchAll(TOKENS)) {
    if (/^[ \t]+$/.test(token) || (token.startsWith("#") && word === undefined)) endWord();
    else if (/^[\n;&|()]+$/.test(token)) endCommand();
    else word = (word ?? "") + unquoted(token);
  }
  endCommand();
  return commands;
}

/** Comments, blanks, separators, quoted text (even if never closed), anything else. */
const TOKENS =
  /(?<![^\s;&|()])#[^\n]*|[ \t]+|[\n;&|()]+|"(?:[^"\\]|\\.)*"?|'[^']*'?|\\.|[^\s;&|()"'\\]+|\s/gs;

function unquoted(token: string): string {
  const [quote] = token;
  if (quote === "\\") return token.slice(1);
  if (quote !== '"' && quote !== "'") return token;
  const inner = token.length > 1 && token.endsWith(quote) ? token.slice(1, -1) : token.slice(1);
  return quote === '"' ? inner.replaceAll(/\\(["\\$`])/g, "$1") : inner;
}
