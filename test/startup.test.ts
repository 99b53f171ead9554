/** Tests which modules a quick command loads: libraries for models, agents and prices only where an agent works. */
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const BIN = fileURLToPath(new URL("../bin/skein", import.meta.url));

/** Writes down the address of every module that is loaded. */
const SPY = `
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";
registerHooks({
  load(url, context, next) {
    appendFileSync(process.env.LOADED, url + "\\n");
    return next(url, context);
  },
});
`;

describe("a quick command", () => {
  let home: string;
  /** Makes a project with a run, because without one a command loads little. */
  before(() => {
    home = mkdtempSync(path.join(tmpdir(), "skein-startup-"));
    writeFileSync(path.join(home, "spy.mjs"), SPY);
    const agent = path.join(home, "agent.sh");
    writeFileSync(agent, "#!/bin/sh\necho made > made.txt\n", { mode: 0o755 });
    const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: home, env: environment() });
    git("init", "-q");
    for (const name of ["user.name", "user.email"]) git("config", name, "test@example.com");
    git("commit", "-q", "--allow-empty", "-m", "first");
    const run = ["run", "make it", "--agent", agent, "--planner", "none", "--set", "gate=none"];
    execFileSync(process.execPath, [BIN, ...run], { cwd: home, env: environment(), timeout: 60_000 });
  });
  after(() => {
    rmSync(home, { recursive: true });
    rmSync(`${home}-state`, { recursive: true });
  });

  const environment = () => ({
    PATH: process.env["PATH"],
    HOME: home,
    SKEIN_STATE_DIR: `${home}-state`,
  });

  const loadedBy = async (...args: readonly string[]): Promise<readonly string[]> => {
    const list = path.join(home, `loaded-by${args.join("-")}`);
    const { promise, resolve } = Promise.withResolvers<void>();
    execFile(
      process.execPath,
      ["--import", pathToFileURL(path.join(home, "spy.mjs")).href, BIN, ...args],
      {
        cwd: home,
        env: { ...environment(), LOADED: list },
        timeout: 60_000,
      },
      () => resolve(), // The command's output and exit code do not matter here.
    );
    await promise;
    const urls = readFileSync(list, "utf8").split("\n");
    assert.ok(
      urls.some((url) => url.endsWith("/cli/main.ts")),
      "the spy sees what is loaded",
    );
    return urls;
  };

  it("skein plan --by rules loads neither schemas nor YAML where nothing is configured", async () => {
    const loaded = await loadedBy("plan", "--by", "rules", "search");
    assert.deepEqual(
      loaded.filter((url) => /node_modules\/(?:zod|yaml|string-width)\//.test(url)),
      [],
    );
  });

  for (const command of ["status", "--help", "doctor", "plan --by rules search"]) {
    it(`skein ${command} loads no library for models, agents or prices`, async () => {
      const heavy = (await loadedBy(...command.split(" "))).filter((url) =>
        /node_modules\/(?:ai|@ai-sdk|@agentclientprotocol|@modelcontextprotocol|@pydantic)\//.test(url),
      );
      assert.deepEqual(heavy, []);
    });
  }
});
