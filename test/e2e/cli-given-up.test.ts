/** Tests that a run with a task that was given up ends with exit code 1 and says everywhere which task and why. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { test } from "node:test";
import type { RunView } from "../../src/core/view/view.ts";
import { makePlace } from "./cli-place.ts";

/** An agent that plans two tasks, of which "one" always fails; its later turns answer with `later`, as JSON. */
const agentText = (later: string) => `#!/bin/sh
brief=$(cat)
if [ "$SKEIN_KIND" = plan ]; then
  case $brief in
    *'"first":true'*) echo '{"tasks": [
      {"id": "one", "description": "write one", "acceptance": "it is there", "scope": ["t.1.txt"]},
      {"id": "two", "description": "write two", "acceptance": "it is there", "scope": ["t.2.txt"]}]}' ;;
    *) echo '${later}' ;;
  esac
  exit 0
fi
[ "$SKEIN_TASK" = t.1 ] && exit 9
echo made > "$SKEIN_TASK.txt"
echo '{"status": "complete", "summary": "wrote it"}'
`;

const QUICK = ["--gate", "none", "--set", "retry.maxFailed=1", "--set", "retry.first=1ms"];

for (const [how, later, reason] of [
  [
    "for a reason",
    '{"tasks": [], "addressed": [{"concern": "c1", "because": "nobody reads it"}]}',
    "nobody reads it",
  ],
  ["without a word", '{"tasks": [], "addressed": ["c1"]}', "no reason given"],
] as const)
  test(`a task that is given up ${how} ends a run with 1, and every surface says what and why`, async () => {
    await using place = await makePlace();
    await writeFile(place.agent, agentText(later), { mode: 0o755 });
    const ran = await place.skein("run", "write two files", "--agent", place.agent, ...QUICK);
    assert.equal(ran.code, 1, ran.err);
    const left = new RegExp(`given up: one failed: .*exit code 9.*; the planner's reason: ${reason}$`, "m");
    const [, report = ""] = ran.out.split(/^Unfinished$/m);
    assert.match(report, left);
    const isAsked =
      /Asking the planner again: it did not say what replaces c1 \(one failed: .*\), or why it is given up$/m;
    assert.equal(isAsked.test(ran.out), reason === "no reason given", ran.out);
    const [, run = ""] = /^run {5}(\S+)$/m.exec(ran.out)!;
    assert.match((await place.skein("status", run)).out, left);
    assert.match((await place.skein("show", run)).out, new RegExp(`^ +given up: ${reason}$`, "m"));
    for (const verb of ["status", "show"]) {
      const { givenUp } = JSON.parse((await place.skein(verb, run, "--json")).out) as Pick<
        RunView,
        "givenUp"
      >;
      assert.deepEqual(
        givenUp.map(({ task, key, reason: why }) => [task, key, why]),
        [["t.1", "one", reason]],
      );
      assert.match(givenUp[0]!.failure, /exit code 9/);
    }
    const resumed = JSON.parse((await place.skein("resume", run, "--json")).out) as { givenUp: unknown[] };
    assert.equal(resumed.givenUp.length, 1);
  });
