/** What is a clause about, without what is to be done with it? */
import type { Clause } from "../reading.ts";
import { plainLine, theOne } from "./wording.ts";

/** None: it only points at what was spoken of before. */
export function thingsIn({
  object,
  items,
  verb,
}: Pick<Clause, "object" | "items" | "verb">): readonly string[] {
  // "make the dashboard load faster" is about the dashboard.
  const plain =
    verb === "make"
      ? object.replace(
          /\s(?:load|run|work|look|behave|return|use|more|idempotent|async|optional|required|public|private|\w{2,40}(?:er|able|ible|ive|ous|ful|safe|ready))\b.*$/i,
          "",
        )
      : object;
  // "allow a user to reset their password" is about no thing.
  if (verb === "allow" || verb === "let") return [];
  return (plain === "" ? items : [plain]).map(thingIn).filter((thing) => thing !== "");
}

/** "the settings page from classes to hooks" is the settings page; "it" and "what breaks" are nothing by themselves. */
export function thingIn(object: string): string {
  const line = plainLine(object.slice(0, MAX_CHARS)).replace(/^(?:to|from|into|onto)\s/i, "");
  const end = line.search(ENDING);
  const thing = (end === -1 ? line : line.slice(0, end))
    .replace(/^(?:this|that|the)\s/i, "the ")
    .replace(ADVERB, "");
  return NOTHING.test(thing) ? "" : theOne(thing);
}

const MAX_CHARS = 300;
const ENDING =
  /[,;:(]|\sin\s\S*[./]|\s(?:to|from|so|that|which|into|with|without|by|using|adding|when|while|if|because|after|before|as|and)\s/i;
const ADVERB =
  /\s(?:everywhere|throughout|again|properly|correctly|please|asap|now|too|as well|accordingly)$/i;
const NOTHING =
  /^(?:(?:it|this|that|them|these|those|both|each|all|everything|something|anything)$|(?:why|what|how|whether|whatever|both)\b)/i;
