/** Tests with the real bubblewrap which caches of tools gate and set-up commands can read and write. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { it } from "node:test";
import { newFolder } from "../../../test/support/folders.ts";
import { LIMITS, sandboxFor, whyNoSandbox, workspacePlace } from "../../../test/support/tool-places.ts";
import type { JobId } from "../../core/job.ts";
import { LocalPrograms } from "../programs/local.ts";
import { ConfinedPrograms, cachesOf } from "./confined-programs.ts";
import { noSandbox } from "./sandbox.ts";

const NEVER = new AbortController().signal;
const limits = { ...LIMITS, maxMs: 60_000 };

/** Makes a home with the user's downloads, and a private file. */
async function place() {
  const home = fs.realpathSync(newFolder());
  const files = [
    ".npm/_cacache/a",
    ".npm/_logs/log",
    ".cache/node/yarn",
    ".cache/private/token",
    "go/pkg/mod/m",
  ];
  for (const one of files) {
    fs.mkdirSync(path.dirname(path.join(home, one)), { recursive: true });
    fs.writeFileSync(path.join(home, one), "the user's\n");
  }
  const environment = { ...process.env, HOME: home, XDG_CACHE_HOME: undefined, GOPATH: undefined };
  const at = await workspacePlace({
    environment: { HOME: home },
    sandbox: (where) => sandboxFor(where, { environment }),
  });
  const { folder, sandbox, programs } = at.place;
  const shell = (confined: ConfinedPrograms) => async (command: string) => {
    const variables = { ...at.place.environment, HOME: home };
    const job = "check#1" as JobId;
    const end = await confined.run(
      { job, command: ["sh", "-c", command], folder, environment: variables, limits },
      NEVER,
    );
    return end.is === "exited" ? `${end.tail}${end.code}` : JSON.stringify(end);
  };
  const opened = async () => sandbox;
  return {
    home,
    folder,
    gate: shell(new ConfinedPrograms({ programs, sandbox: opened })),
    setup: shell(new ConfinedPrograms({ programs, sandbox: opened, mayFetch: true })),
    [Symbol.asyncDispose]: () => at[Symbol.asyncDispose](),
  };
}

/** Skips a test if there is no sandbox. */
const sandboxed = (name: string, run: () => Promise<void>): void => {
  if (missing === false) it(name, run);
};
const missing = await whyNoSandbox();

sandboxed(
  "shows a gate the downloads of tools for reading, and nothing else of the home folder",
  async () => {
    await using at = await place();
    assert.equal(
      await at.gate("cat ~/.npm/_cacache/a ~/go/pkg/mod/m ~/.cache/node/yarn"),
      "the user's\n".repeat(3) + 0,
    );
    assert.match(
      await at.gate("cat ~/.npm/_logs/log ~/.cache/private/token"),
      /No such file[\s\S]*No such file[\s\S]*1$/,
    );
    assert.match(await at.gate("echo mine > ~/.npm/_cacache/a"), /Read-only|cannot create/);
    assert.equal(fs.readFileSync(path.join(at.home, ".npm/_cacache/a"), "utf8"), "the user's\n");
  },
);

sandboxed(
  "keeps what a gate compiles for the next one in that workspace, apart from the user's",
  async () => {
    await using at = await place();
    assert.equal(
      await at.gate("mkdir -p ~/.cache/go-build && echo built > ~/.cache/go-build/x; touch ~/.profile"),
      "0",
    );
    assert.equal(await at.gate("cat ~/.cache/go-build/x; ls -A ~ | grep -c profile"), "built\n0\n1");
    assert.deepEqual(fs.readdirSync(path.join(at.home, ".cache")).sort(), ["node", "private"]);
    assert.deepEqual(fs.readdirSync(at.home).sort(), [".cache", ".npm", "go"]);
  },
);

sandboxed(
  "lets a set-up command download where the user's downloads are not enough, and the gate see it",
  async () => {
    await using at = await place();
    const install = "echo new > ~/.npm/_cacache/b && cp ~/.npm/_cacache/b installed";
    assert.equal((await at.setup(install)).at(-1), "0");
    assert.equal(
      await at.gate("cat installed; ls ~/.npm/_cacache; cat ~/go/pkg/mod/m"),
      "new\nb\nthe user's\n0",
    );
    assert.match(await at.gate("echo mine > ~/.npm/_cacache/b"), /Read-only|cannot create/);
    assert.equal((await at.setup("echo more > ~/.npm/_cacache/c")).at(-1), "0");
    assert.deepEqual(fs.readdirSync(path.join(at.home, ".npm/_cacache")), ["a"]);
    assert.deepEqual(fs.readdirSync(path.join(cachesOf(at.folder), "npm")).sort(), ["b", "c"]);
  },
);

sandboxed(
  "says of a command that is not there what is said outside: 127, or that it cannot be started",
  async () => {
    await using at = await place();
    assert.match(await at.gate("no-such-program"), /not found\n127$/);
    const folder = newFolder();
    const programs = new LocalPrograms({ folder });
    const confined = new ConfinedPrograms({
      programs,
      sandbox: async () => ({ ...noSandbox(""), level: "bubblewrap" }),
    });
    const end = await confined.run(
      { job: "check#1" as JobId, command: ["no-such-program"], folder, environment: {}, limits },
      NEVER,
    );
    assert.match(JSON.stringify(end), /no-such-program was not found on the PATH/);
  },
);
