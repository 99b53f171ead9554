/** Tests that a worker's call token is refused to a program of another job, which can read it. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { workAsk } from "../../../test/contracts/agent.ts";
import { agentParts, type Heard, hearing } from "../../../test/support/agent-parts.ts";
import type { JobId } from "../../core/job.ts";
import { CallDesk } from "../call-desk/desk.ts";
import { isLinux } from "../programs/process-table.ts";
import { CommandAgent } from "./command.ts";

/** Sends a question with the address and token in its variables, and prints the answer. */
const ASK = `node -e '
  const { SKEIN_CALL_URL, SKEIN_CALL_TOKEN } = process.env;
  const headers = { authorization: "Bearer " + SKEIN_CALL_TOKEN };
  const body = JSON.stringify({ tool: "ask", input: { question: process.argv[1] } });
  fetch(SKEIN_CALL_URL + "/call", { method: "POST", headers, body }).then((said) => console.log(said.status));
'`;
/** Sends a question and exits before its process could be looked up. */
const ASK_AND_LEAVE = `node -e '
  const { SKEIN_CALL_URL, SKEIN_CALL_TOKEN } = process.env;
  const { hostname, port, host } = new URL(SKEIN_CALL_URL);
  const body = JSON.stringify({ tool: "ask", input: { question: "stolen?" } });
  const head = ["POST /call HTTP/1.1", "Host: " + host, "Authorization: Bearer " + SKEIN_CALL_TOKEN, "Content-Length: " + body.length];
  const socket = require("net").connect(port, hostname, () => socket.write(head.join("\\r\\n") + "\\r\\n\\r\\n" + body, () => process.exit()));
'`;

describe("the token of a worker's calls", { skip: !isLinux && "the system does not say who calls" }, () => {
  let home: string;
  let desk: CallDesk;
  let heard: Heard;
  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), "skein-stolen-"));
    execFileSync("mkfifo", [path.join(home, "ready"), path.join(home, "go")]);
    desk = new CallDesk();
    heard = hearing();
  });
  afterEach(async () => {
    await desk.close();
    rmSync(home, { recursive: true });
  });
  const turn = (name: string, shell: string) => {
    const folder = path.join(home, name);
    mkdirSync(folder);
    const agent = new CommandAgent({
      ...agentParts(path.join(home, "jobs"), heard),
      command: ["sh", "-c", shell],
      calls: { desk, skein: async () => "/skein" },
      graceMs: 10_000,
    });
    return agent.turn({ ...workAsk(folder), job: `work:${name}#1` as JobId }, new AbortController().signal);
  };

  for (const [how, steal] of [
    ["as it is", `${ASK} "stolen?"`],
    ["in a session of its own", `setsid -w ${ASK} "stolen?"`],
    ["and leaves at once", ASK_AND_LEAVE],
  ] as const)
    it(`is refused to a program of another job, ${how}`, async () => {
      const victim = turn("t.1", `echo $$ > ../pid; echo > ../ready; read x < ../go; ${ASK} "mine?"`);
      // All variables of the other job, including its mark.
      const thief = turn(
        "t.2",
        `read x < ../ready
        tr '\\0' '\\n' < /proc/$(cat ../pid)/environ | grep ^SKEIN_ | sed "s/=\\(.*\\)/='\\1'/" > stolen
        set -a; . ./stolen; set +a
        ${steal}
        echo > ../go`,
      );
      const [called, stolen] = await Promise.all([victim, thief]);
      assert.deepEqual(called, { is: "called", tool: "ask", input: { question: "mine?" } });
      assert.equal(stolen.is, "said");
      assert.match(heard.texts.get("work:t.1#1")!, /200/);
      if (steal !== ASK_AND_LEAVE) assert.match(heard.texts.get("work:t.2#1")!, /403/);
    });

  it("is taken from all that its own program has started, in a session of its own too", async () => {
    const called = await turn("t.1", `setsid -w ${ASK} "mine?"`);
    assert.deepEqual(called, { is: "called", tool: "ask", input: { question: "mine?" } });
  });
});
