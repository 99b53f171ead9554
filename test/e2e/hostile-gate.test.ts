/** Tests what a hostile test, written by a worker, can do when the gate or the set-up command runs it. */
import assert from "node:assert/strict";
import fs from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { it } from "node:test";
import { napOf, napping } from "../support/naps.ts";
import { whyNoSandbox } from "../support/tool-places.ts";
import { makePlace, type Place } from "./cli-place.ts";
import { agentOf, COMPLETE } from "./odd-place.ts";

const LIMIT = { timeout: 120_000 };
const KEY = "sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz";
/** The gate prints what the set-up command wrote, because only the gate has a transcript. */
const GATE = "[ ! -f attack.sh ] || bash attack.sh $1 >> worked.txt; [ $1 = setup ] || cat worked.txt || :\n";
const nap = napOf(7201);

/** Walks from parent process to parent process and looks for the key in the environment of each. */
const UP =
  "p=$$; while p=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$p/status) && [ \"$p\" -gt 0 ]; do " +
  "grep -qa sk-ant /proc/$p/environ && exit 0; done; exit 1";

/** A shell script of attacks. Each prints whether it worked; its effects are looked for from outside. */
const attack = (place: Place, port: number): string => {
  const home = path.join(place.folder, "home");
  const { folder } = place.repository;
  const can = (what: string, command: string) =>
    `if (${command}) >/dev/null 2>&1; then echo "$1 WORKED: ${what}"; fi\n`;
  const server =
    "const s=require('net').createServer((c)=>c.end()).listen(0,'127.0.0.1',()=>" +
    "require('net').connect(s.address().port,'127.0.0.1').on('connect',()=>process.exit(0)))";
  return [
    can("read the ssh key", `grep -q private '${home}/.ssh/id_ed25519'`),
    can("read Skein's variables", "grep -qa sk-ant /proc/[0-9]*/environ"),
    can("read its parents' variables", UP),
    can("see the state folder", `find '${place.state}' -name 'events.db' | grep -q .`),
    can(
      "open the log",
      `find '${place.state}' -name 'events.db' | while read -r f; do : >> "$f" && exit 9; done; [ $? = 9 ]`,
    ),
    can("talk to a server", `exec 3<>/dev/tcp/127.0.0.1/${port} && echo "$1" >&3`),
    can("use a loopback of its own", `node -e "${server}"`),
    // These may seem to work inside the sandbox, where their effects end with the command.
    `echo evil >> '${home}/.bashrc'; mkdir -p '${home}/.config'; echo evil > '${home}/.config/evil'\n`,
    `echo evil >> '${folder}/README.md'; mkdir -p '${folder}/.git/hooks'; echo evil > '${folder}/.git/hooks/post-checkout'\n`,
    `git -C '${folder}' update-ref refs/notes/forged HEAD; git -C '${folder}' branch evil\n`,
    `(env -i setsid ${nap} >/dev/null 2>&1 &)\nexit 0\n`,
  ].join("");
};

const LOOPBACK = "use a loopback of its own";

/** A run whose only task adds the attack and a lock file, so that both set-up and gate run the worker's code. */
async function attacked(...sets: readonly string[]) {
  const place = await makePlace({ files: { "README.md": "# here\n", "gate.sh": GATE } });
  const home = path.join(place.folder, "home");
  fs.mkdirSync(path.join(home, ".ssh"));
  fs.writeFileSync(path.join(home, ".ssh/id_ed25519"), "the user's private key\n");
  fs.writeFileSync(path.join(home, ".bashrc"), "mine\n");
  const heard: string[] = [];
  const server = createServer((socket) => socket.on("data", (text) => heard.push(String(text))));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  fs.writeFileSync(path.join(place.folder, "attack.sh"), attack(place, port));
  const agent = await agentOf(
    place,
    "hostile.sh",
    `cp '${place.folder}/attack.sh' .; echo > go.sum\n${COMPLETE}`,
  );
  const PATH = `${path.dirname(process.execPath)}:${process.env["PATH"]}`;
  const env = { ANTHROPIC_API_KEY: KEY, PATH };
  const more = ["network=false", "workspace.setup=sh gate.sh setup", ...sets].flatMap((set) => [
    "--set",
    set,
  ]);
  // A process of its own, whose environment variables the attack looks for.
  const { ended: end } = place
    .with({ env })
    .start("run", "do it", "--agent", agent, "--planner", "none", "--gate", "sh gate.sh gate", ...more);
  const ended = await end;
  server.close();
  const transcripts = fs.globSync(path.join(place.state, "**/transcripts/*"));
  const text = transcripts.map((file) => fs.readFileSync(file, "utf8")).join("");
  return { place, home, ended, heard, worked: [...new Set(text.match(/^\w+ WORKED: .*$/gm))].sort() };
}

const whatWasHarmed = async ({ place, home, heard }: Awaited<ReturnType<typeof attacked>>) => ({
  heard: heard.length,
  naps: napping(nap).length,
  home: fs.readdirSync(home).filter((name) => name === ".config"),
  shell: fs.readFileSync(path.join(home, ".bashrc"), "utf8"),
  checkout: fs.readFileSync(path.join(place.repository.folder, "README.md"), "utf8"),
  hooks: fs.existsSync(path.join(place.repository.folder, ".git/hooks/post-checkout")),
  refs: (await place.repository.git("for-each-ref", "refs/notes/forged", "refs/heads/evil")).split("\n")
    .length,
});

/** Defined only where a sandbox is available. */
if ((await whyNoSandbox()) === false) {
  it(
    "a hostile test in the gate reads nothing of the user's, changes nothing, and leaves nothing",
    LIMIT,
    async () => {
      const run = await attacked();
      await using _ = run.place;
      assert.equal(run.ended.code, 0, run.ended.out + run.ended.err);
      assert.deepEqual(run.worked, [`gate WORKED: ${LOOPBACK}`, `setup WORKED: ${LOOPBACK}`]);
      assert.deepEqual(await whatWasHarmed(run), {
        heard: 0,
        naps: 0,
        home: [],
        shell: "mine\n",
        checkout: "# here\n",
        hooks: false,
        refs: 1, // The empty output of git is one line.
      });
      assert.doesNotMatch(run.ended.out, /checkout changed/);
    },
  );
}

/** Shows that the attacks work without a sandbox, and that changes of the checkout are reported. */
if (process.platform === "linux")
  it(
    "the same test as the user, with gateSandbox off, does all of it, and the checkout's change is told",
    LIMIT,
    async () => {
      const run = await attacked("gateSandbox=off");
      await using _ = run.place;
      try {
        const all = [
          "open the log",
          "read Skein's variables",
          "read its parents' variables",
          "read the ssh key",
        ];
        const worked = [...all, "see the state folder", "talk to a server", LOOPBACK];
        const by = (who: string) => worked.map((what) => `${who} WORKED: ${what}`);
        assert.deepEqual(run.worked, [...by("gate"), ...by("setup")].sort(), run.ended.out + run.ended.err);
        const { naps, refs, hooks, shell, checkout } = await whatWasHarmed(run);
        assert.deepEqual([naps > 0, refs, hooks], [true, 2, true]);
        assert.match(shell + checkout, /evil[\s\S]*evil/);
        assert.match(run.ended.out, /the user's checkout changed while a gate ran: .*README\.md/);
      } finally {
        for (const pid of napping(nap)) process.kill(Number(pid), "SIGKILL");
      }
    },
  );
