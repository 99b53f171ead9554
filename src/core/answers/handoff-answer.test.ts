/** Tests reading handoffs and costs from workers' texts, and making a handoff from a branch. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { cpuMs } from "../../../test/support/cpu.ts";
import type { Handoff } from "../handoff.ts";
import { handoffFromEvidence, readHandoff, readSpent } from "./handoff-answer.ts";

function handoffIn(text: string): Handoff {
  const read = readHandoff(text, "t.1");
  assert.equal(read.is, "handoff", JSON.stringify(read));
  return (read as { readonly handoff: Handoff }).handoff;
}

const COMPLETE = '{"status": "complete", "summary": "added it"}';

describe("readHandoff", () => {
  it("reads a handoff, and gives it the id of its task", () => {
    const text = JSON.stringify({
      taskId: "t.9",
      status: "partial",
      summary: "half of it",
      concerns: ["slow"],
      suggestions: ["cache"],
      metrics: { tokensUsed: 12, toolCallCount: 3 },
      filesChanged: ["claimed.js"],
      other: true,
    });
    const { taskId, status, summary, concerns, suggestions, metrics, filesChanged } = handoffIn(text);
    assert.deepEqual(
      { taskId, status, summary, concerns, suggestions, filesChanged },
      {
        taskId: "t.1",
        status: "partial",
        summary: "half of it",
        concerns: ["slow"],
        suggestions: ["cache"],
        filesChanged: [],
      },
    );
    assert.equal(metrics.tokensUsed, 12);
    assert.equal(metrics.toolCallCount, 3);
  });

  const places: [string, string][] = [
    ["as the last line, after prose", `I did it [see below\n{ a brace too many\n${COMPLETE}\n`],
    ["as the last line, below a bracket that is never closed", `at work [\n${COMPLETE}\n`],
    ["before more output", `${COMPLETE}\nnpm notice: a new version\n{"level": "info", "status": 200}\n`],
    ["in a fence", `Here:\n\`\`\`json\n${JSON.stringify(JSON.parse(COMPLETE), undefined, 2)}\n\`\`\`\nBye.`],
    ["below a key of its own", `{"handoff": ${COMPLETE}}`],
    ["with a comma too many", '{"status": "complete", "summary": "added it",}'],
  ];
  for (const [where, text] of places)
    it(`finds it ${where}`, () => {
      const { status, summary } = handoffIn(text);
      assert.deepEqual([status, summary], ["complete", "added it"]);
    });

  it("takes the last one, also where an example was quoted before it", () => {
    const long = '{\n  "status": "blocked",\n  "summary": "no key"\n}';
    assert.equal(handoffIn(`answer like this:\n${COMPLETE}\n${long}\n`).status, "blocked");
    assert.equal(handoffIn(`${long}\n${COMPLETE}\n`).status, "complete");
  });

  it("takes a status in any case", () => {
    assert.equal(handoffIn('{"status": " COMPLETE "}').status, "complete");
    assert.equal(handoffIn('{"status": "Blocked"}').status, "blocked");
  });

  it("takes one text for a list of one, and leaves out what is no text", () => {
    const { concerns, suggestions, summary } = handoffIn(
      '{"status": "complete", "summary": 7, "concerns": "slow", "suggestions": ["a", 3, null, "", {"b": 1}]}',
    );
    assert.deepEqual(
      { concerns, suggestions, summary },
      { concerns: ["slow"], suggestions: ["a"], summary: "" },
    );
  });

  it("keeps the status of one that was cut off, and says that it was", () => {
    const { status, summary, concerns } = handoffIn('{"status": "blocked", "summary": "there is no k');
    assert.deepEqual([status, summary], ["blocked", ""]);
    assert.match(concerns.join(), /cut off/);
  });

  it("says that there is none in a text without one", () => {
    for (const text of [
      "",
      "  \n",
      "all done!",
      "{",
      '[{"a": 1}]',
      'saved {"files": 3}\n',
      '{"level": 30}\n{"level": 31}',
    ])
      assert.deepEqual(readHandoff(text, "t.1"), { is: "none" }, text);
  });

  it("says what is wrong with a status that is none", () => {
    const reasons = (text: string) => {
      const read = readHandoff(text, "t.1");
      return read.is === "broken" ? read.reasons.join() : read.is;
    };
    assert.match(
      reasons('{"status": "great"}'),
      /"great"; it must be one of complete, partial, blocked, failed/,
    );
    assert.match(reasons('{"summary": "done"}'), /"status" is missing/);
    assert.match(reasons('```\n{"status": 3}\n```'), /must be text/);
    assert.equal(reasons(`{"status": "${"x".repeat(5_000)}"}`).length < 300, true);
  });

  it("leaves out numbers that are none", () => {
    const { metrics } = handoffIn(
      '{"status": "complete", "metrics": {"tokensUsed": -1, "durationMs": 1e99, "linesAdded": "9", "toolCallCount": 2.4}}',
    );
    assert.deepEqual(
      [metrics.tokensUsed, metrics.durationMs, metrics.linesAdded, metrics.toolCallCount],
      [0, 0, 0, 2],
    );
  });

  it("bounds what is said, and takes out what a terminal would obey", () => {
    const { summary, concerns } = handoffIn(
      JSON.stringify({
        status: "complete",
        summary: `\u001b[2J${"s".repeat(1_000_000)}`,
        concerns: Array.from({ length: 5_000 }, (_, i) => `c${i}`),
      }),
    );
    assert.ok(summary.length < 30_000 && !summary.includes("\u001b"));
    assert.equal(concerns.length, 100);
  });

  it("reads the end of a text without end", () => {
    const noise = "x".repeat(2_000_000);
    assert.equal(handoffIn(`${noise}\n${COMPLETE}`).status, "complete");
    assert.equal(
      readHandoff(`${COMPLETE}\n${noise}`, "t.1").is,
      "broken",
      "what was not read may be anything",
    );
    assert.equal(readHandoff(`{"status": "failed", "summary": "${noise}"}`, "t.1").is, "broken");
  });

  it("does not believe one that was cut off after it said complete, nor one whose status is cut off or said twice", () => {
    for (const text of [
      '{"status": "complete", "summary": "I did',
      '{"summary": "a", "status": "complete", "concerns": ["the tests',
      '{"status": "par',
      '{"status":',
      '{"status": "complete", "status": "partial"}',
    ])
      assert.equal(readHandoff(text, "t.1").is, "broken", text);
    assert.equal(handoffIn('[{"status": "partial", "summary": "z"}]').status, "partial");
  });

  it("is not polluted by names of the language's own", () => {
    const handoff = handoffIn(
      '{"__proto__": {"status": "failed", "polluted": 1}, "status": "complete", "metrics": {"__proto__": {"tokensUsed": 5}}}',
    );
    assert.equal(handoff.status, "complete");
    assert.equal(handoff.metrics.tokensUsed, 0);
    assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
    assert.deepEqual(
      readHandoff('{"__proto__": {"status": "complete"}, "a": 1} x', "t.1").is === "handoff",
      false,
    );
  });

  it("never throws, and says one of three things", () => {
    const piece = fc.constantFrom(
      "{",
      "}",
      "[",
      '"status"',
      ":",
      '"complete"',
      ",",
      "\n",
      '"',
      "\\",
      "```",
      COMPLETE,
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 60 }), (pieces) => {
        const { is } = readHandoff(pieces.join(""), "t.1");
        return is === "handoff" || is === "none" || is === "broken";
      }),
    );
  });

  it("takes time that grows with the text, not with its square", () => {
    for (const piece of ["{", '{"status":', "{}\n", '{"status": 1}\n', "[{", "}\n{", '{"a": "'])
      assert.ok(timeOf(piece.repeat(50_000)) < 1_500, piece);
  });
});

function timeOf(text: string): number {
  const start = cpuMs();
  readHandoff(text, "t.1");
  readSpent(text);
  return cpuMs() - start;
}

describe("handoffFromEvidence", () => {
  const evidence = { filesChanged: ["a.js", "b.js"], linesAdded: 10, linesRemoved: 2 };

  it("names the files, and says that nobody gave a handoff", () => {
    const { status, summary, concerns, filesChanged } = handoffFromEvidence("t.1", evidence, { is: "none" });
    assert.equal(status, "complete");
    assert.equal(summary, "changed a.js, b.js (10 lines added, 2 removed)");
    assert.deepEqual(filesChanged, ["a.js", "b.js"]);
    assert.match(concerns.join(), /gave no handoff/);
  });

  it("says why one could not be read", () => {
    const { status, concerns } = handoffFromEvidence("t.1", evidence, {
      is: "broken",
      reasons: ['"status" is "great"'],
    });
    assert.equal(status, "failed", "what is not understood is not taken for success");
    assert.match(concerns.join(), /could not be read \("status" is "great"\)/);
  });

  it("names a few of many files, and no file as none", () => {
    const many = Array.from({ length: 3_000 }, (_, i) => `f${i}.js`);
    const of = (filesChanged: readonly string[]) =>
      handoffFromEvidence("t.1", { ...evidence, filesChanged }, { is: "none" }).summary;
    const { filesChanged } = handoffFromEvidence("t.1", { ...evidence, filesChanged: many }, { is: "none" });
    assert.equal(filesChanged.length, 1_000);
    assert.match(of(many), /f4\.js and 2995 more files/);
    assert.equal(of([]), "changed no file");
  });
});

describe("readSpent", () => {
  const cases: [string, unknown][] = [
    ['{"status": "complete", "spent": {"tokens": 7, "microdollars": 9}}', { tokens: 7, microdollars: 9 }],
    ['{"tasks": [], "spent": {"tokens": 7}}', { tokens: 7 }],
    ['prose\n{"status": "complete", "metrics": {"tokensUsed": 5}}\nmore', { tokens: 5 }],
    ['{"spent": {"tokens": 1}, "metrics": {"tokensUsed": 5}}', { tokens: 1 }],
    ['{"spent": {"tokens": 1, "microdollars": -3}}', { tokens: 1 }],
    ['{\n"tasks": [],\n"spent": {"tokens": 4}\n}', { tokens: 4 }],
    ['{"spent": {"tokens": -1}}', undefined],
    ['{"spent": 3}', undefined],
    ["nothing", undefined],
  ];
  for (const [text, spent] of cases)
    it(`reads ${JSON.stringify(spent)} in ${JSON.stringify(text)}`, () =>
      assert.deepEqual(readSpent(text), spent));
});
