/** Tests changes of a package manifest, which need an installation, and the set-up of workspaces, by the command. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeBarrier, makePlace } from "./cli-place.ts";

const LIMIT = { timeout: 150_000 };

const manifest = (version: string) => `${JSON.stringify({ dependencies: { "content-type": version } })}\n`;
const FILES = {
  "package.json": manifest("1"),
  "package-lock.json": "{}\n",
  ".gitignore": "node_modules\n",
  // Stands for tests that pass only with the version that the manifest asks for.
  "check.sh": 'grep -q "$(cat node_modules/content-type/version)" package.json\n',
};
const RAISE = `echo '${manifest("2").trim()}' > package.json
echo '{"status":"complete","summary":"raised it","concerns":[]}'; exit 0`;
/** Does what an installation would do here, without a network. */
const INSTALL =
  "mkdir -p node_modules/content-type; tr -dc 0-9 < package.json > node_modules/content-type/version";

const RUN = ["run", "raise content-type", "--planner", "none", "--gate", "sh check.sh"];

describe("a task that raises a dependency", () => {
  it(
    "is refused with what its workspace has instead, and the line of skein.yaml that mends it",
    LIMIT,
    async () => {
      await using place = await makePlace({ files: FILES, work: RAISE });
      await place.repository.write({ "node_modules/content-type/version": "1\n" });
      const ran = await place.skein(...RUN, "--agent", place.agent, "--set", "retry.maxFailed=1");
      assert.equal(ran.code, 1, ran.out + ran.err);
      assert.match(
        ran.out,
        /breaks the gate.*installed differently \(content-type\): it has your checkout's node_modules; let each workspace be set up, in skein\.yaml: workspace: \{setup: "npm ci"\}/,
      );
    },
  );

  it(
    "lands where workspaces are set up: that is done anew before its gate, in a used workspace, too",
    LIMIT,
    async () => {
      await using place = await makePlace({ files: FILES, work: RAISE });
      await place.repository.write({ "node_modules/content-type/version": "1\n" });
      const setUp = ["--set", `workspace.setup=${INSTALL}`];
      const ran = await place.skein(...RUN, "--agent", place.agent, ...setUp);
      assert.equal(ran.code, 0, ran.out + ran.err);
      assert.doesNotMatch(ran.out, /re-running|breaks the gate/);
    },
  );
});

describe("a workspace that takes long to be made ready", () => {
  it("is told of while it lasts, counted apart, and is no work of its agent", LIMIT, async () => {
    await using place = await makePlace();
    const barrier = await makeBarrier(place.folder);
    const args = [
      "--agent",
      place.agent,
      "--gate",
      "true",
      "--set",
      "gateSandbox=off",
      "--set",
      "gateProbe=off",
    ];
    const setUp = ["--set", `workspace.setup=${barrier.wait}`];
    const live = place.start("run", "write two files", ...args, ...setUp);
    await live.says("making a workspace ready: running workspace.setup");
    await barrier.open();
    const { code, out, err } = await live.ended;
    assert.equal(code, 0, out + err);
    assert.match(out, /: its workspace is ready after \d+ s, running workspace\.setup$/m);
    assert.match(out, /^ {2}copying and set-up of workspaces: \d+\.?\d* s in all$/m);
    const [run = ""] = out.match(/(?<=^run {5})\S+/m) ?? [];
    assert.match(
      (await place.skein("report", run)).out,
      /^ {2}only making workspaces ready .* [\d.]+ s, \d+ %$/m,
    );
  });
});
