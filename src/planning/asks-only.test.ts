/** Which requests only ask for an answer, and which of them order a change in the form of a question. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { asksOnly } from "./asks-only.ts";

const QUESTIONS = [
  "why is CI red",
  "Why is CI red?",
  "why does the nightly build fail on arm64",
  "Which tests are slow, and which of them touch the network?",
  "How many callers does parseDate have",
  "what files do we ship",
  "Does the cache ever return stale entries? Where is it filled?",
  "Can parse() return null?",
  "- What does retry.ts do?\n- Who calls it?",
  "Should this module use streams or buffers?",
  "Before I change the cache:\n- who clears it?\n- why is it global? odd\n\nNo changes please, just tell me.",
  "Is the retry bounded? I could not find it. Don't touch anything.",
  "1. where is the session stored\n2. how long does it live\n3. is it renewed on use",
  "is it safe to upgrade to node 24",
  "do we still support node 20",
  "Tell me which endpoints have no tests.",
  "can you tell me why CI is red?",
  "I'd like to know whether the cache is ever cleared.",
  "Show me which tests are slow.",
  "any idea why the build fails on arm64",
  "CI is red, why?",
  "The CLI takes 3 seconds to start - any idea why?",
  "I wonder why the CLI takes 3 seconds to start, any idea?",
  "CI is red on main since yesterday. Why?",
  "Warum ist der Build seit gestern rot?",
  "Pourquoi les tests échouent-ils sur main ?",
  "¿Por qué falla el build desde ayer?",
  "为什么 CI 是红的？",
  "なぜ CI が落ちているのですか？",
];

const ORDERS = [
  "Can you add a --json flag?",
  "could we cache the result?",
  "why don't we cache it?",
  "What about a dark mode?",
  "why is CI red and fix it",
  "Why is CI red? Fix it.",
  "Why is the login slow? It should take 100 ms at most.",
  "When the user logs in, show a banner",
  "What I want is a command that lists the tasks",
  "which is why the parser needs a rewrite",
  "Where possible, use const",
  "How the cache works must be documented",
  "## Why\nis CI red?",
  "Have you tried a cache?",
  "Why is the login slow? Fix it. No changes.",
  "No changes to the API, please. Why is the login slow?",
  "Don't change anything.",
  "do these in parallel",
  "do the migration",
  "is broken on Windows",
  "Has to work offline",
  "have the page show the total",
  "Can you show the total on the page?",
  "Show me a banner when the build fails.",
  "Tell the user why the login failed.",
  "Tell me why CI is red and fix it.",
  "Explain in the README how it works.",
  "The login should work offline, why?",
  "Add a cache, why not?",
  "Uploads hang at 99%. It should retry. Why?",
  "Warum ist CI rot? Bitte reparieren.",
  "Kannst du eine Option --json hinzufügen?",
  "Pourquoi pas un cache ?",
  "",
];

describe("a request that only asks", () => {
  for (const text of QUESTIONS) it(`is ${JSON.stringify(text)}`, () => assert.equal(asksOnly(text), true));
  for (const text of ORDERS) it(`is not ${JSON.stringify(text)}`, () => assert.equal(asksOnly(text), false));
});
