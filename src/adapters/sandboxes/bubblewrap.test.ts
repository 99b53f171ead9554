/** Tests with the real bubblewrap what Linux keeps from a command, and what is reported if there is no sandbox. */
import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { it } from "node:test";
import { newFolder } from "../../../test/support/folders.ts";
import { napOf, stillNapping } from "../../../test/support/naps.ts";
import {
  JOB,
  LIMITS,
  plainPlace,
  sandboxFor,
  whyNoSandbox,
  workspacePlace,
} from "../../../test/support/tool-places.ts";
import { hasFailed } from "../../core/result.ts";
import { runCommand } from "../agents/tools/bash.ts";
import type { ToolPlace } from "../agents/tools/place.ts";
import { LocalPrograms } from "../programs/local.ts";
import { openSandbox } from "./bubblewrap.ts";

const missing = await whyNoSandbox();

/** Skips a test if there is no sandbox; that this is reported is tested in any case. */
const sandboxed = (name: string, run: () => Promise<void>): void => {
  if (missing === false) it(name, run);
};

const bash = (place: ToolPlace, command: string) => runCommand(place, { command }, place.signal);

function fakeBubblewrap(script: string): Record<string, string> {
  const folder = newFolder();
  writeFileSync(path.join(folder, "bwrap"), `#!/bin/sh\n${script}\n`);
  chmodSync(path.join(folder, "bwrap"), 0o755);
  return { PATH: folder };
}

const opened = (more: Partial<Parameters<typeof openSandbox>[0]>) =>
  openSandbox({ setting: "auto", network: true, environment: {}, ...more });

it("is off if it is switched off, and says so", async () => {
  const sandbox = await opened({ setting: "off", environment: process.env });
  assert.ok(!hasFailed(sandbox));
  assert.deepEqual([sandbox.level, sandbox.why], ["none", "switched off: commands run as you"]);
  assert.deepEqual(sandbox.wrap(["ls"], { folder: "/", temporary: "/" }), ["ls"]);
});

it("goes without where it is not required, and says why and what to install", async () => {
  const sandbox = await opened({ environment: { PATH: newFolder() } });
  assert.ok(!hasFailed(sandbox));
  assert.equal(sandbox.level, "none");
  if (process.platform === "linux") assert.match(sandbox.why, /bwrap is not on the PATH.*install bubblewrap/);
});

it("fails where it is required and is not there, or is there and may not work", async () => {
  const none = await opened({ setting: "required", environment: { PATH: newFolder() } });
  assert.ok(hasFailed(none));
  assert.match(none.failure.message, /a sandbox is required, and /);
  if (process.platform !== "linux") return; // Other systems have no sandbox that could be forbidden.
  assert.match(none.failure.message, /bwrap is not on the PATH/);
  assert.match(none.failure.next ?? "", /install bubblewrap/);
  const environment = fakeBubblewrap("echo 'bwrap: No permissions to create a namespace' >&2; exit 1");
  const barred = await opened({ setting: "required", environment });
  assert.ok(hasFailed(barred));
  assert.match(barred.failure.message, /bwrap does not work here \(bwrap: No permissions/);
  assert.match(barred.failure.next ?? "", /allow user namespaces/);
});

sandboxed("lets a command write in its workspace and its temporary folder, and nowhere else", async () => {
  await using at = await workspacePlace({ sandbox: sandboxFor });
  const { place, repository } = at;
  const heard = await bash(
    place,
    'echo mine > new.txt; echo tmp > "$TMPDIR/kept"; echo gone > /tmp/x; cat /tmp/x',
  );
  assert.equal(heard, "gone\n");
  assert.equal(readFileSync(path.join(place.folder, "new.txt"), "utf8"), "mine\n");
  assert.equal(await bash(place, 'cat "$TMPDIR/kept"'), "tmp\n");
  // This file's own folder is read-only, or missing if it is in a home folder.
  const outside = [import.meta.dirname, "/usr", "/etc", "/var"];
  for (const folder of outside) {
    assert.match(
      await bash(place, `touch '${folder}/made-by-a-test'`),
      /(?:Read-only file system|No such file)[\s\S]*exit code 1/,
    );
    assert.equal(existsSync(path.join(folder, "made-by-a-test")), false);
  }
  assert.match(await bash(place, `touch '${repository.folder}/.git/objects/made'`), /Read-only/);
});

sandboxed("takes every capability, also from root, so that nothing can be mounted anew", async () => {
  await using at = await workspacePlace({ sandbox: sandboxFor });
  assert.match(await bash(at.place, "grep CapEff /proc/self/status"), /0{16}/);
  assert.match(await bash(at.place, "cat /etc/shadow"), /Permission denied|No such file/);
  assert.match(await bash(at.place, "mount -o remount,rw / && touch /etc/made"), /exit code/);
});

sandboxed(
  "lets nobody change the kernel's settings, also not root: one of them runs a program outside",
  async () => {
    await using at = await workspacePlace({ sandbox: sandboxFor });
    for (const name of ["kernel/core_pattern", "vm/swappiness"]) {
      const same = `[ ! -e ${name} ] || { was=$(cat ${name}) && echo "$was" > ${name}; }`; // Writes the old value back.
      assert.match(await bash(at.place, `cd /proc/sys && ${same}`), /Read-only|Permission denied/, name);
    }
  },
);

sandboxed("has git work in it: objects of the user's repository are read, commits are made", async () => {
  await using at = await workspacePlace({ sandbox: sandboxFor });
  const heard = await bash(at.place, "echo b > b && git add b && git commit -qm made && git log --format=%s");
  assert.equal(heard, "made\nfirst\n");
});

sandboxed("shows no home folder, but the tool chains in it", async () => {
  const home = newFolder();
  for (const one of [".ssh", ".aws", ".tool/bin", "work"])
    mkdirSync(path.join(home, one), { recursive: true });
  for (const one of [".ssh/id", ".aws/credentials", ".netrc", "work/notes"]) {
    writeFileSync(path.join(home, one), "a key of the user\n");
  }
  writeFileSync(path.join(home, ".tool/bin/greet"), "#!/bin/sh\necho hello\n");
  chmodSync(path.join(home, ".tool/bin/greet"), 0o755);
  const environment = { HOME: home, PATH: `${home}/.tool/bin:${process.env["PATH"]}` };
  const sandbox = (where: Parameters<typeof sandboxFor>[0]) => sandboxFor(where, { environment });
  await using at = await workspacePlace({ sandbox, environment });
  assert.equal(await bash(at.place, "greet; ls -A ~"), "hello\n.tool\n");
  assert.match(
    await bash(at.place, "cat ~/.ssh/id ~/.aws/credentials ~/.netrc ~/work/notes"),
    /^(?!.*a key)/s,
  );
  assert.equal(await bash(at.place, "touch ~/.cache && ls -A ~"), ".cache\n.tool\n");
  assert.match(await bash(at.place, "touch ~/.tool/bin/mine"), /Read-only/);
  assert.deepEqual(readdirSync(home).sort(), [".aws", ".netrc", ".ssh", ".tool", "work"]);
});

sandboxed("finds tool chains and objects by their names where those lead through links", async () => {
  const [real, outer] = [newFolder(), newFolder()];
  mkdirSync(path.join(real, "versions/24/bin"), { recursive: true });
  writeFileSync(path.join(real, "versions/24/bin/greet"), "#!/bin/sh\necho hello\n");
  chmodSync(path.join(real, "versions/24/bin/greet"), 0o755);
  symlinkSync("versions/24", path.join(real, "current"));
  symlinkSync(real, path.join(outer, "home"));
  for (const HOME of [real, path.join(outer, "home")]) {
    const environment = { HOME, PATH: `${HOME}/current/bin:${process.env["PATH"]}` };
    const readable = [path.join(outer, "home", "versions")];
    const sandbox = (where: Parameters<typeof sandboxFor>[0]) => sandboxFor(where, { environment, readable });
    await using at = await workspacePlace({ sandbox, environment });
    assert.equal(await bash(at.place, "~/versions/24/bin/greet; greet"), "hello\nhello\n", HOME);
  }
});

sandboxed("hides a folder that it is told to, and shows what is needed of it", async () => {
  const hidden = "/usr/share"; // A folder outside of all home folders.
  const [needed = ""] = readdirSync(hidden);
  const options = { hidden: [hidden], readable: [path.join(hidden, needed)] };
  await using at = await workspacePlace({ sandbox: (where) => sandboxFor(where, options) });
  assert.equal(await bash(at.place, `ls '${hidden}'`), `${needed}\n`);
  const home = { environment: { ...process.env, HOME: hidden } };
  await using other = await workspacePlace({ sandbox: (where) => sandboxFor(where, home) });
  assert.equal(await bash(other.place, `ls '${hidden}'`), "(no output)");
});

sandboxed("shows neither the state folder nor the user's checkout but for its objects", async () => {
  await using at = await workspacePlace({ sandbox: sandboxFor });
  writeFileSync(path.join(at.state, "conversation.txt"), "what another agent said\n");
  writeFileSync(path.join(at.repository.folder, ".env"), "KEY=secret\n");
  assert.equal(await bash(at.place, "ls -A ../../.."), "workspaces\n");
  assert.equal(await bash(at.place, "ls -A .. | sort"), "tmp\ntree\n");
  assert.equal(await bash(at.place, "find /run /var/tmp -type s"), "(no output)");
  assert.equal(
    await bash(at.place, `find '${at.repository.folder}' -maxdepth 2 -mindepth 1 -name '[!o]*'`),
    `${at.repository.folder}/.git\n`,
  );
});

sandboxed("reaches a server on this machine with the network, and none without", async () => {
  const server = createServer((socket) => socket.end("hello\n"));
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", () => listening.resolve());
  await listening.promise;
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  try {
    for (const network of [true, false]) {
      await using at = await workspacePlace({ sandbox: (where) => sandboxFor(where, { network }) });
      const heard = await bash(at.place, `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`);
      if (network) assert.equal(heard, "hello\n");
      else assert.match(heard, /refused|unreachable/i);
    }
  } finally {
    server.close();
  }
});

sandboxed("shows no process but its own, and no variable of Skein's", async () => {
  await using at = await workspacePlace({ sandbox: sandboxFor });
  assert.match(await bash(at.place, `cat /proc/${process.pid}/environ`), /No such file[\s\S]*exit code 1/);
  assert.ok(Number(await bash(at.place, "ls /proc | grep -c '^[0-9]'")) < 10);
  assert.match(await bash(at.place, `kill -0 ${process.pid}`), /No such process/);
});

sandboxed(
  "ends a daemon with its command, even one that gave up its session, its parent and its mark",
  async () => {
    await using at = await workspacePlace({ sandbox: sandboxFor });
    const nap = napOf(7101);
    const daemons = `setsid ${nap} & nohup ${nap} & (env -i setsid sh -c '${nap} & ${nap}' &)`;
    const heard = await bash(
      at.place,
      `( ${daemons} ) >/dev/null 2>&1; until [ $(cat /proc/[0-9]*/comm | grep -cx sleep) = 4 ]; do :; done 2>/dev/null; echo 4`,
    );
    assert.equal(heard, "4\n");
    assert.deepEqual(await stillNapping(nap), []);
  },
);

sandboxed("is found by its mark after a crash, with all that runs in it", async () => {
  const nap = napOf(7102);
  const begun = Promise.withResolvers<void>();
  const folder = path.join(newFolder(), "programs");
  const mine = plainPlace({ programs: new LocalPrograms({ folder }), onSign: () => begun.resolve() });
  const sandbox = await sandboxFor({ state: folder, repository: mine.folder });
  const running = bash({ ...mine, sandbox, limits: LIMITS }, `echo; setsid ${nap} & ${nap}`);
  await begun.promise;
  assert.ok((await new LocalPrograms({ folder }).endLeftovers(JOB)) >= 3);
  assert.match(await running, /exit code|killed/);
  assert.deepEqual(await stillNapping(nap), []);
});
