/** Tests a planner's prompts turn after turn, as its model's server saw them, over kills and lost conversations. */
import assert from "node:assert/strict";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import type { Script } from "../../src/ports/agent-script.ts";
import type { Reply, SeenCall } from "../support/model-server/model-server.ts";
import { playsScript } from "../support/model-server/plays-script.ts";
import type { Started } from "./cli-place.ts";
import { jobOf } from "./model-accounting.ts";
import { HANG, SETS, task, toTheEnd, withIncidents, writes } from "./model-lives.ts";
import { type ModelPlace, makeModelPlace } from "./model-place.ts";

const DOCUMENTS = {
  "SPEC.md": "# Tides\n\nThe table must hold for a year.\n",
  "FEATURES.json": '{ "tides": { "done": false } }\n',
  "AGENTS.md": "Write British English.\n",
  "DECISIONS.md": "We count in hours.\n",
};

/** The newest message of the call; earlier messages may contain the same. */
const messageOf = ({ messages }: SeenCall): string =>
  messages.findLast(({ role, text }) => role === "user" && text.startsWith("Task: "))?.text ?? "";

/** The first call of each turn of the goal's planner, by the turn's number. */
const turnsIn = ({ server }: ModelPlace): ReadonlyMap<number, SeenCall> =>
  new Map(
    server.calls
      .filter((call) => jobOf(call).startsWith("plan:t#"))
      .map((call) => [Number(jobOf(call).slice("plan:t#".length)), call] as const)
      .reverse(),
  );

const holdsDocuments = (call: SeenCall) =>
  Object.entries(DOCUMENTS).filter(([name, text]) =>
    messageOf(call).includes(`${name}:\n\`\`\`text\n${text}`),
  ).length;

const reports = (id: string, concern: string) => {
  const { steps, end } = writes(id);
  return { steps, end: { handoff: { ...end.handoff, concerns: [concern] } } };
};

const conversationOf = ({ state }: ModelPlace) =>
  globSync(path.join(state, "*/runs/*/conversations/plan-t.jsonl"))[0]!;

describe("a planner's briefs", { timeout: 150_000 }, () => {
  it("carry a concern until it is addressed, over a kill and the loss of the conversation", async () => {
    const answer = (id: string, more: object = {}) => ({
      answer: { scratchpad: `now ${id}`, tasks: [task(id)], ...more },
    });
    const script: Script = {
      plans: {
        t: [...["a", "b", "c", "d"].map((id) => answer(id)), answer("e", { addressed: ["c1"] }), answer("f")],
      },
      work: {
        ...Object.fromEntries(["c", "d", "e", "f"].map((id) => [id, [writes(id)]])),
        a: [reports("a", "the moon is low")],
        b: [reports("b", "the tide is high")],
      },
    };
    let live: Started | undefined;
    const first = (then: () => void) => (call: SeenCall) => {
      then();
      return playsScript(script)(call, new AbortController().signal);
    };
    const kill = (): Reply => {
      live!.kill("SIGKILL");
      return HANG;
    };
    const plays = withIncidents(script, {
      "plan:t#3 1": () => ({ text: "Let me look.", tools: [{ name: "ls", input: {} }] }),
      "plan:t#3 2": kill,
      "work:t.3#1 1": first(() => rmSync(conversationOf(place))),
      "work:t.5#1 1": first(() => spoil(conversationOf(place))),
    });
    await using place = await makeModelPlace({ answer: plays, sets: SETS, files: DOCUMENTS });
    const { code, out, err } = await toTheEnd(place, (started) => {
      live = started;
    });
    assert.equal(code, 0, out + err);

    const turns = turnsIn(place);
    assert.deepEqual([...turns.keys()].sort(), [1, 2, 3, 4, 5, 6, 7, 8]);
    const saying = (words: string) =>
      [...turns].flatMap(([turn, call]) => (messageOf(call).includes(words) ? [turn] : [])).sort();
    assert.deepEqual(saying("- c1 (said by t.1): the moon is low"), [2, 3, 4, 5, 6]);
    assert.deepEqual(saying("- c2 (said by t.2): the tide is high"), [3, 4, 5, 6, 7, 8]);
    assert.deepEqual(saying("now d\n"), [6], "the scratchpad is the newest one");

    const pastOf = (turn: number) =>
      turns.get(turn)!.messages.flatMap(({ text }) => /^Task: t .*\nTurn: (\d+)$/m.exec(text)?.[1] ?? []);
    assert.deepEqual(pastOf(3), ["1", "2", "3"], "it is one conversation");
    assert.deepEqual(pastOf(4), ["1", "2", "4"], "of a turn that was killed nothing is left");
    assert.ok(!JSON.stringify(turns.get(4)!.messages).includes("Let me look."));
    assert.deepEqual(pastOf(5), ["5"], "the conversation was deleted");
    assert.deepEqual(pastOf(7), ["6", "7"], "of a turn that cannot be read nothing is left");
    assert.deepEqual(pastOf(8), ["6", "7", "8"]);
    for (const [turn, call] of turns)
      assert.equal(holdsDocuments(call), turn === 1 || turn === 5 || turn === 7 ? 4 : 0, `turn ${turn}`);
    assert.match(
      messageOf(turns.get(2)!),
      /SPEC\.md, FEATURES\.json, AGENTS\.md, DECISIONS\.md: as you know/,
    );
  });
});

/** Makes the first message in the file invalid JSON. */
function spoil(file: string): void {
  const text = readFileSync(file, "utf8");
  const at = text.indexOf('"messages":[') + 20;
  writeFileSync(file, `${text.slice(0, at)}\0\0\0${text.slice(at + 3)}`);
}
