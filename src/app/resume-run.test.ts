/** Tests which settings a resumed run has, and when resuming is refused. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, task } from "../../test/support/core-run.ts";
import { defaultConfig } from "../config/read.ts";
import { fromSettings, toSettings } from "../config/settings.ts";
import { hasFailed } from "../core/result.ts";
import { Fold } from "../engine/fold.ts";
import { NOBODY } from "../ports/agent.ts";
import type { RunHome } from "../ports/runs.ts";
import { prepareResume } from "./resume-run.ts";

const NEVER = new AbortController().signal;
const config = { ...defaultConfig(), workers: 5 };

async function prepared(
  tell: (run: CoreRun) => void,
  { pid, checkedOut = false }: { pid?: number; checkedOut?: boolean } = {},
) {
  const run = CoreRun.planned([task("one")]);
  tell(run);
  const seen = new Fold();
  for (const event of run.log) seen.take(event);
  const home = {
    record: { run: "a", baseBranch: "main", settings: toSettings({ ...config, deliver: checkedOut }) },
    owner: async () => (pid === undefined ? undefined : { pid, since: 0 }),
    lock: async () => ({ failure: {} }),
  } as unknown as RunHome;
  const reconfigure = (settings: unknown) => {
    const read = fromSettings(settings);
    return "config" in read ? read.config : assert.fail();
  };
  const parts = {
    env: {},
    project: { located: { top: "/here" } },
    git: async () => "worktree /here\nHEAD b\nbranch refs/heads/main\n",
    agents: { sandbox: async () => ({ level: "none", why: "none" }) },
  } as unknown as Parameters<typeof prepareResume>[1];
  const agents = { worker: NOBODY, planner: "none" } as const;
  return prepareResume({ home, seen, reconfigure, agents }, parts, NEVER);
}

describe("a run that is to be resumed", () => {
  it("continues with what was recorded", async () => {
    const end = await prepared(() => {});
    assert.ok(!hasFailed(end) && end.is === "ready");
    assert.equal(end.config.workers, 5);
  });

  it("belongs to the process that drives it, which can end a pause", async () => {
    const driven = await prepared(() => {}, { pid: 7 });
    assert.ok(hasFailed(driven) && /running in process 7/.test(driven.failure.message));
    assert.deepEqual(await prepared((run) => run.say({ type: "pause" }), { pid: 7 }), { is: "paused" });
  });

  it("has nothing to continue with once it is closed", async () => {
    const end = await prepared((run) => run.say({ type: "cancel" }));
    assert.ok(!hasFailed(end) && end.is === "closed" && end.config?.workers === 5);
  });

  it("is refused before it starts if it could not be delivered at its end", async () => {
    const end = await prepared(() => {}, { checkedOut: true });
    assert.ok(hasFailed(end) && /main is checked out in \/here/.test(end.failure.message));
  });
});
