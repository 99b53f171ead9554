/** Tests slugs made from texts, and which names are safe as git branches. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import fc from "fast-check";
import { freshSlugs, isRefSafe, slugOf } from "./slug.ts";

test("fresh slugs are unlike each other and those that are taken, in time for 20,000 like texts", () => {
  const fresh = freshSlugs(new Set(["add-it", "add-it-3"]));
  assert.deepEqual([fresh("Add it"), fresh("Add it!"), fresh("other")], ["add-it-2", "add-it-4", "other"]);
  const many = Array.from({ length: 20_000 }, () => fresh("x"));
  assert.equal(new Set(many).size, many.length);
});

describe("slugOf", () => {
  for (const [text, slug] of [
    ["Add the login: step 2", "add-the-login-step-2"],
    ["--upload-pack=evil", "upload-pack-evil"],
    ["../../.git/config", "git-config"],
    ["Café déjà vu", "cafe-deja-vu"],
    ["don't", "dont"],
    ["x.lock", "x-lock"],
    ["HEAD", "head"],
    ["con", "task-con"],
    ["LPT1", "task-lpt1"],
    ["console", "console"],
    ["修复登录", "task"],
    ["", "task"],
    ["---", "task"],
    ["a\u0000b\u202ec", "a-b-c"],
    ["ﬁne Ⅷ", "fine-viii"],
  ] as const) {
    test(`${JSON.stringify(text)} becomes ${slug}`, () => assert.equal(slugOf(text), slug));
  }

  test("a long text is cut between words", () => {
    assert.equal(slugOf("Define chunk data structures and constants"), "define-chunk-data-structures-and");
    assert.equal(slugOf("x".repeat(100_000)), "x".repeat(40));
    assert.equal(slugOf(`a ${"x".repeat(100)}`), `a-${"x".repeat(38)}`);
  });

  test("whatever the text, the slug is one safe word of at most 40 characters", () => {
    const wild = fc.string({
      unit: fc.oneof(fc.constantFrom(..."aZ9-./ .lock@{~^:"), fc.string({ unit: "binary" })),
    });
    fc.assert(
      fc.property(wild, (text) => {
        const slug = slugOf(text);
        assert.match(slug, /^[a-z0-9]+(?:-[a-z0-9]+)*$/);
        assert.ok(slug.length <= 40);
        assert.ok(isRefSafe(slug) && isRefSafe(`skein/r1/task/t.2.1-${slug}`));
        assert.equal(slugOf(slug), slug);
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("isRefSafe", () => {
  for (const name of [
    "main",
    "skein/r1/task/t.2.1-add-login",
    "a/b.c/d",
    "é/名",
    "a-b",
    "@x",
    "x@",
    "locked",
  ]) {
    test(`${name} is safe`, () => assert.ok(isRefSafe(name)));
  }

  const unsafe = {
    nothing: "",
    "an option": "--upload-pack=evil",
    "a short option": "-D",
    "a revision": "@{-1}",
    "the other name of HEAD": "@",
    HEAD: "HEAD",
    "a range": "a..b",
    "an ancestor": "a~1",
    "a commit": "0123456789abcdef0123456789abcdef01234567",
    "a folder above": "../x",
    "a hidden part": "a/.b",
    "a lock": "a.lock/b",
    "a lock where case does not count": "a.LOCK",
    "an empty part": "a//b",
    "a leading slash": "/a",
    "a trailing slash": "a/",
    "a trailing dot": "a.",
    "a space": "a b",
    "a NUL": "a\u0000b",
    "a line break": "a\nb",
    "a pattern": "a*",
    "a pathspec": "a:b",
    "half a character": "a\ud800",
    "a name longer than a file's": "x".repeat(100),
    "a name longer than any": "abc/".repeat(100_000),
  };
  for (const [what, name] of Object.entries(unsafe)) {
    test(`${what} is not`, () => assert.equal(isRefSafe(name), false));
  }

  test("git takes every name that passes, out of 4,000 odd ones", () => {
    const names = [...new Set(Array.from({ length: 4_000 }, (_, seed) => oddName(seed)))];
    const safe = names.filter(isRefSafe).slice(0, 250);
    assert.ok(safe.length >= 200, `only ${safe.length} names passed: too few to compare`);
    for (const name of safe) assert.ok(gitTakes(name), `git refuses ${JSON.stringify(name)}`);
  });

  test("of plain names it refuses none that git takes", () => {
    const names = Array.from({ length: 4_000 }, (_, seed) => oddName(seed));
    const plain = [...new Set(names)].filter((name) => /^[a-z0-9._/-]+$/.test(name)).slice(0, 150);
    assert.ok(
      plain.some((name) => !isRefSafe(name)),
      "all are safe: nothing is compared",
    );
    for (const name of plain) assert.equal(isRefSafe(name), gitTakes(name), name);
  });
});

const gitTakes = (name: string) =>
  spawnSync("git", ["check-ref-format", "--branch", name], { stdio: "ignore" }).status === 0;

const PIECES = [
  ..."abz09_+%!#$&'()`|;,=@{}.-/é名 ~^:?*[\\",
  ...["..", "//", "@{", ".lock", "lock", "HEAD", "refs/heads/", "-x", "\u007f", "\u0001", "\u0000", "\ud800"],
  ...["aa", "b/c", "d.e", "f-g", "h", "i", "j", "k/", "l", "m"],
];

function oddName(seed: number): string {
  let state = (seed + 1) * 2654435761;
  const next = (below: number) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 3266489917) >>> 0;
    return (state >>> 8) % below;
  };
  return Array.from({ length: 1 + next(4) }, () => PIECES[next(PIECES.length)]!).join("");
}
