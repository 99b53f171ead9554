/** Tests reading plans with random, broken and hostile texts. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { cases } from "../../../test/support/cases.ts";
import { cpuMs } from "../../../test/support/cpu.ts";
import { type AnsweredTask, readPlanAnswer } from "./plan-answer.ts";

/** A repeatable source of randomness: a failure names its seed. */
function chance(seed: number) {
  let state = seed;
  const below = (max: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % max;
  };
  return { below, pick: <T>(items: readonly T[]): T => items[below(items.length)]! };
}
type Chance = ReturnType<typeof chance>;

/** What is wrong with a task that was accepted: the same rules, written in another way. */
function faultOf(task: AnsweredTask): string | undefined {
  const { id, description, acceptance, scope, priority, after, delivers, agent, branch } = task;
  if (![id, ...after].every(isId)) return "an id";
  if (new Set(after).size !== after.length) return "after has doubles";
  for (const text of [description, acceptance]) {
    if (typeof text !== "string" || text.length === 0 || text.length > 50_000 || text !== text.trim())
      return "a text";
    if (Buffer.from(text, "utf8").toString("utf8") !== text) return "half a character";
    for (const char of text)
      if (isControl(char.codePointAt(0)!) && !"\t\n\r".includes(char)) return "a control character";
  }
  if (!scope.every(isInRepository) || new Set(scope).size !== scope.length) return "a scope";
  if (delivers === "change" ? scope.length === 0 : delivers !== "report") return "what it delivers";
  if (priority !== undefined && ![1, 2, 3, 4, 5, 6, 7, 8, 9, 10].includes(priority)) return "a priority";
  if (agent !== undefined && !isId(agent.replaceAll(":", "x"))) return "an agent";
  if (
    branch !== undefined &&
    (branch.length > 40 || !branch.split("-").every((part) => /^[a-z0-9]+$/.test(part)))
  ) {
    return "a branch";
  }
  const known = "id isIdMade description scope acceptance priority after delivers agent branch".split(" ");
  return Object.keys(task).find((key) => !known.includes(key));
}

const isControl = (code: number) => code < 0x20 || (code >= 0x7f && code < 0xa0);
const ID_CHARS = new Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
const isId = (id: unknown) =>
  typeof id === "string" &&
  id.length > 0 &&
  id.length <= 64 &&
  [...id].every((char) => ID_CHARS.has(char)) &&
  !"._-".includes(id[0]!);

function isInRepository(path: string): boolean {
  if (path === "./") return true;
  const parts = (path.endsWith("/") ? path.slice(0, -1) : path).split("/");
  if (path.length > 1_024 || "-:~".includes(path[0]!) || /[\\*?]/.test(path) || path[1] === ":") return false;
  if (parts.some((part) => ["", ".", "..", ".git", "git~1"].includes(part.trim().toLowerCase())))
    return false;
  return [...path].every((char) => {
    const code = char.codePointAt(0)!;
    const isHidden =
      isControl(code) || (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e);
    return !isHidden && code !== 0xfeff && !(code >= 0xd800 && code <= 0xdfff);
  });
}

/** Must hold for every text. */
function checkAnything(text: string, about: string): ReturnType<typeof readPlanAnswer> {
  const read = readPlanAnswer(text);
  if (read.is !== "answer") {
    assert.ok(read.reasons.length > 0 && read.reasons.length <= 21, about);
    return read;
  }
  const { tasks, done, deferred } = read.answer;
  for (const task of tasks)
    assert.equal(faultOf(task), undefined, `${about}: ${JSON.stringify(task)} from ${text}`);
  assert.equal(new Set(tasks.map((task) => task.id)).size, tasks.length, about);
  assert.ok(
    deferred.every((part) => part.files.every(isInRepository) && part.reason !== ""),
    about,
  );
  if (tasks.length === 0 || done) assert.ok(saysSoInFull(text), `${about}: read as an end: ${text}`);
  return read;
}

/** An object closes somewhere after a list of tasks: without that, the text may not count as an end. */
const saysSoInFull = (text: string) => /tasks"[\s\S]*\][\s\S]*\}|\\u[\s\S]*\}/.test(text);

const SAMPLE = {
  scratchpad: 'First the chunk.\nThen {"tasks": []} when all is done; `[DEFERRED]` mesher.ts — "quoted".',
  tasks: [
    {
      id: "chunk",
      description: "Define the Chunk class in chunk.ts: {x, z}, é, 😀 and a \\d+ pattern.",
      scope: ["src/world/chunk.ts", "src/world/constants.ts"],
      acceptance: ["It can be made.", "It throws."],
      priority: 1,
      branch: "worker/chunk-data",
    },
    {
      id: "noise",
      description: "Write noise.ts",
      scope: ["src/world/noise/"],
      acceptance: "Noise is smooth",
      after: ["chunk"],
      agent: "code-writer",
    },
    {
      id: "look",
      description: "Look around",
      acceptance: "A report",
      delivers: "report",
      scope: [],
      priority: 10,
    },
  ],
  deferred: [{ files: ["src/world/mesher.ts"], reason: "needs the chunk" }],
  addressed: ["c1", 2, { concern: "c3", by: "chunk", because: "it is smaller" }],
  done: false,
};
const SAMPLES = [
  JSON.stringify(SAMPLE),
  `Here is the plan:\n\n\`\`\`json\n${JSON.stringify(SAMPLE, null, 2)}\n\`\`\`\nThat's {all}.`,
  JSON.stringify(SAMPLE.tasks),
  JSON.stringify({ tasks: [], scratchpad: "all is done", done: true }),
];

const HOSTILE = [
  ...[
    '"',
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\\",
    "\n",
    "//",
    "```",
    "\u0000",
    "\ufeff",
    "\u202e",
    "\ud800",
    "\udc00",
  ],
  ...[
    "null",
    "true",
    "1e999",
    "-1",
    "0",
    '""',
    "{}",
    "[]",
    '"\\u0000"',
    '"\\ud800"',
    '{"tasks":[]}',
    '"done":true,',
  ],
  ...[
    '"../x"',
    '".git/config"',
    '"--upload-pack=evil"',
    '"/etc/passwd"',
    '"C:\\\\x"',
    '"a\\u202eb"',
    '"~"',
    '"*"',
  ],
  ...[
    '"__proto__":',
    '"constructor":',
    '"tasks":',
    '"id":',
    '"scope":',
    '"priority":',
    '"delivers":"report",',
  ],
];

describe("whatever a model writes", () => {
  test("a plan that ends early yields a beginning of its tasks, or nothing; never an end", () => {
    const ids = SAMPLE.tasks.map((task) => task.id);
    for (const [n, sample] of SAMPLES.entries()) {
      const last = sample.startsWith("Here") ? sample.lastIndexOf("}\n```") : sample.length - 1;
      for (let length = 0; length <= last; length += 1) {
        const about = `sample ${n} cut at ${length}`;
        const read = checkAnything(sample.slice(0, length), about);
        if (read.is !== "answer") continue;
        const { tasks, done, notes } = read.answer;
        assert.deepEqual(
          tasks.map((task) => task.id),
          ids.slice(0, tasks.length),
          about,
        );
        assert.ok(tasks.length > 0 && !done && notes.length > 0, about);
      }
      assert.equal(readPlanAnswer(sample).is, "answer");
    }
  });

  test("plans with a few characters changed let no bad task through", () => {
    let readable = 0;
    const all = cases(40_000);
    for (let seed = 0; seed < all; seed += 1) {
      if (checkAnything(mutated(chance(seed)), `seed ${seed}`).is === "answer") readable += 1;
    }
    assert.ok(
      readable > all * 0.1 && readable < all * 0.9,
      `${readable} were readable: the changes are too mild or too wild`,
    );
  });

  test("heaps of hostile pieces do no harm", () => {
    for (let seed = 0; seed < cases(40_000); seed += 1) {
      const random = chance(seed);
      checkAnything(
        Array.from({ length: random.below(24) }, () => random.pick(HOSTILE)).join(""),
        `seed ${seed}`,
      );
    }
  });

  test("any text, and any JSON, can be read or refused", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => void checkAnything(text, "a string")),
      {
        numRuns: cases(3_000),
      },
    );
    fc.assert(
      fc.property(fc.json(), (json) => void checkAnything(`{"tasks": [${json}]}`, "a JSON task")),
      {
        numRuns: cases(3_000),
      },
    );
  });

  test("a plan is read exactly when all of its fields are good", () => {
    const all = cases(30_000);
    let good = 0;
    for (let seed = 0; seed < all; seed += 1) {
      const { plan, isGood, tasks } = plannedBy(chance(seed));
      const read = checkAnything(plan, `seed ${seed}`);
      assert.equal(read.is, isGood ? "answer" : "invalid", `seed ${seed}: ${plan}`);
      if (read.is === "answer") assert.equal(read.answer.tasks.length, tasks, `seed ${seed}`);
      if (isGood) good += 1;
    }
    assert.ok(good > all / 6 && good < (all * 5) / 6, `${good} plans were good`);
  });

  test("the time it takes grows with the text, not with its square", () => {
    const pieces = [
      "[",
      "{",
      '{"',
      '{"a":',
      "```json\n{",
      '{"tasks":[',
      '[{"tasks":[]},',
      '{"\n{',
      '"',
      "[1e5",
      '{"\\',
    ];
    for (const piece of pieces) {
      const small = leastMs(piece, 32_000);
      const large = leastMs(piece, 8 * 32_000);
      // Eight times the text: 8 times as long, or 64 times if the time were quadratic. One ms for the clock's error.
      assert.ok(large < 32 * (small + 1), `${piece}: ${small} ms became ${large} ms`);
    }
  });
});

function leastMs(piece: string, chars: number): number {
  const text = piece.repeat(chars / piece.length);
  const times = [1, 2, 3].map(() => {
    const start = cpuMs();
    readPlanAnswer(text);
    return cpuMs() - start;
  });
  return Math.min(...times);
}

function mutated(random: Chance): string {
  let text = random.pick(SAMPLES);
  for (let left = 1 + random.below(3); left > 0; left -= 1) {
    const at = random.below(text.length);
    const to = at + random.below(random.below(4) === 0 ? 200 : 4);
    const changes = [
      () =>
        text.slice(0, at) +
        String.fromCharCode(text.charCodeAt(at) ^ (1 << random.below(7))) +
        text.slice(at + 1),
      () => text.slice(0, at) + text.slice(to),
      () => text.slice(0, to) + text.slice(at),
      () => text.slice(0, at) + random.pick(HOSTILE) + text.slice(at),
      () => text.slice(0, at) + random.pick(HOSTILE) + text.slice(to),
      () => text.slice(0, at),
    ];
    text = random.pick(changes)();
  }
  return text;
}

/** Values that a field may have, and values that it may not; undefined: the key is left out. */
const FIELDS: Readonly<
  Record<string, { readonly good: readonly unknown[]; readonly bad: readonly unknown[] }>
> = {
  description: {
    good: ["Do it", "x".repeat(500), "é\n", ["a", "b"]],
    bad: [undefined, "", " ", 1, {}, [1], null],
  },
  acceptance: { good: ["ok", ["a", "b"], "1"], bad: [undefined, "", "!", false, [], [[]]] },
  scope: {
    good: [["a.ts"], ["a.ts", "./a.ts"], ["src/"], ["."], ["app/[id].tsx", ".gitignore"]],
    bad: [
      undefined,
      [],
      "a",
      ["../a"],
      [".git/config"],
      ["--x"],
      ["a", 1],
      [""],
      ["a\u0000"],
      ["\u202ea"],
      ["/a"],
      [["a"]],
    ],
  },
  priority: { good: [undefined, null, 1, 10, "3"], bad: [0, 11, 2.5, "x", [], -0.1, "03x"] },
  after: { good: [undefined, null, [], ["a"], [1, "1"]], bad: ["a", ["-a"], [null], {}, [1.5]] },
  delivers: { good: [undefined, null, "change"], bad: ["both", 1, ""] },
  agent: { good: [undefined, null, "debugger", "a:b"], bad: ["", "-a", "a/b", 7] },
  branch: { good: [undefined, "a/b", "--x", "\u0000", 7, {}, "x".repeat(300)], bad: [] },
  __proto__x: { good: [undefined, {}], bad: [] },
};

/** A plan of up to three tasks; about every third task has one bad field. */
function plannedBy(random: Chance) {
  const count = random.below(4);
  let isGood = true;
  const tasks = Array.from({ length: count }, (_, index) => {
    const spoiled = random.below(3) === 0 ? random.pick(Object.keys(FIELDS)) : undefined;
    const task: Record<string, unknown> = { id: `t${index}` };
    for (const [key, { good, bad }] of Object.entries(FIELDS)) {
      const isBad = key === spoiled && bad.length > 0;
      if (isBad) isGood = false;
      task[key] = random.pick(isBad ? bad : good);
    }
    return task;
  });
  const json = JSON.stringify({ scratchpad: "s", tasks }, null, random.pick([0, 2])).replaceAll(
    "__proto__x",
    "__proto__",
  );
  const around = random.pick([
    ["", ""],
    ["```json\n", "\n```"],
    ["I {think} [so]:\n", "\n{ok}"],
    ["\ufeff", ""],
  ] as const);
  // Beside other brackets an empty plan may be a quotation.
  if (count === 0 && around[0].includes("{")) isGood = false;
  return { plan: around.join(json), isGood, tasks: count };
}
