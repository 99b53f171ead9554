/** Tests what a planner can ask git, and that git then writes nothing and starts no program. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { it } from "node:test";
import { use, workspacePlace } from "../../../../test/support/tool-places.ts";
import { askGit } from "./git.ts";
import { gitArguments } from "./git-arguments.ts";
import type { ToolPlace } from "./place.ts";
import { plannerTools } from "./tools.ts";

const FILES = { ".gitattributes": "*.bin filter=evil diff=evil\n", "a.txt": "one\n", "b.bin": "two\n" };

const ask = (place: ToolPlace, ...args: string[]) => askGit(place, { args }, place.signal);

it("answers what a planner asks of history, files and branches", async () => {
  await using at = await workspacePlace({ files: FILES });
  const { place } = at;
  const tools = plannerTools(place);
  assert.match(await use(tools, "git", { args: ["log", "-1", "--format=%s"] }), /^first\n$/);
  assert.match(await ask(place, "log", "--oneline", "-n", "5"), /^[0-9a-f]{7,} first\n$/);
  assert.match(await ask(place, "git", "log", "-1", "--format=%s"), /^first\n$/);
  assert.match(await ask(place, "show", "--stat", "HEAD"), /3 files changed/);
  assert.equal(await ask(place, "show", "HEAD:a.txt"), "one\n");
  assert.match(await ask(place, "blame", "-L", "1,1", "a.txt"), /one\n$/);
  assert.equal(await ask(place, "ls-files"), ".gitattributes\na.txt\nb.bin\n");
  assert.match(await ask(place, "branch", "-a"), /no branch/);
  assert.equal(await ask(place, "tag"), "(no output)");
  fs.writeFileSync(path.join(place.folder, "a.txt"), "three\n");
  assert.match(await ask(place, "diff", "--", "a.txt"), /\+three/);
  assert.equal(await ask(place, "status", "-s"), " M a.txt\n");
  assert.match(await ask(place, "show", "no-such"), /\[exit code 128\]$/);
});

it("refuses every command and option that writes, runs programs or leads elsewhere", () => {
  const refused: readonly (readonly string[])[] = [
    ...[
      "push",
      "commit",
      "config",
      "grep",
      "cat-file",
      "checkout",
      "fetch",
      "worktree",
      "submodule",
      "",
      "--exec-path",
    ].map((x) => [x]),
    ...["-c", "-C", "--git-dir=/x", "--work-tree=/x", "--upload-pack=x", "constructor"].map((x) => [
      x,
      "log",
    ]),
    ...["--output=x", "--outp=x", "--ext-diff", "--ext", "--textconv", "-O/x", "--no-index"].map((x) => [
      "diff",
      x,
    ]),
    ...["--output", "--show-signature", "--stdin", "--format=%G?", "--pretty=%+GS"].map((x) => ["log", x]),
    ...["-d", "-D", "-m", "-f", "--edit-description", "--set-upstream-to=x", "-u"].map((x) => [
      "branch",
      x,
      "main",
    ]),
    ...["-d", "-a", "-s", "-v", "-F/etc/passwd", "--verify"].map((x) => ["tag", x]),
    ...["--contents=/etc/passwd", "-S/etc/passwd", "--ignore-revs-file=/x", "--textconv"].map((x) => [
      "blame",
      x,
      "a",
    ]),
    ["ls-files", "-X", "/etc/passwd"],
    ["ls-files", "--exclude-from=/etc/passwd"],
    ["branch", "--format=%(signature)"],
    ["tag", "--sort", "signature"],
    ["diff", "/etc/passwd", "/etc/group"],
    ["diff", "../a", "../b"],
    ["diff", "--", "../a", "a"],
    ["log", "-n"],
    ["show", "HEAD:../../x"],
    ["log", "a\0b"],
  ];
  for (const args of refused) assert.ok("refused" in gitArguments(args), args.join(" "));
});

it("can only list branches and tags, whatever they are called", async () => {
  await using at = await workspacePlace({ files: FILES });
  await ask(at.place, "branch", "made");
  await ask(at.place, "tag", "made");
  await ask(at.place, "branch", "--", "--made");
  assert.equal(await ask(at.place, "tag"), "(no output)");
  assert.doesNotMatch(await ask(at.place, "branch", "-a"), /made/);
});

/** Settings that make git start a program whatever options it gets, so git itself is not started. */
const REFUSED_TRAPS: readonly string[] = [
  '[filter "evil"]\n\tclean = touch MADE; cat\n',
  '[filter "evil"]\n\tprocess = touch MADE\n',
  '[diff "evil"]\n\ttextconv = touch MADE; cat\n',
  '[diff "evil"]\n\tcommand = touch MADE; true\n',
  "[include]\n\tpath = HOOKS/more\n",
];

/** Settings that options overrule: git answers, and starts nothing. */
const OVERRULED_TRAPS = [
  "[core]\n\tfsmonitor = touch MADE; true\n\tpager = touch MADE; cat\n\thooksPath = HOOKS\n",
  "[diff]\n\texternal = touch MADE; true\n[pager]\n\tlog = touch MADE; cat\n",
  '[alias]\n\tlog = "!touch MADE"\n\tstatus = "!touch MADE"\n',
  "[log]\n\tshowSignature = true\n[gpg]\n\tprogram = HOOKS/gpg\n",
].join("");

function setTrap({ place, state }: { place: ToolPlace; state: string }, trap: string): string {
  const made = path.join(state, "made");
  const hooks = path.join(state, "hooks");
  const set = (text: string) => text.replaceAll("MADE", made).replaceAll("HOOKS", hooks);
  fs.mkdirSync(hooks);
  for (const hook of ["post-index-change", "gpg"]) {
    fs.writeFileSync(path.join(hooks, hook), `#!/bin/sh\ntouch ${made}\n`, { mode: 0o755 });
  }
  fs.writeFileSync(path.join(hooks, "more"), set(REFUSED_TRAPS[0] ?? ""));
  fs.appendFileSync(path.join(place.folder, ".git/config"), set(trap));
  fs.writeFileSync(path.join(place.folder, "b.bin"), "changed\n");
  return made;
}

it("does not ask git where the repository's settings have it start a program for files", async () => {
  for (const trap of REFUSED_TRAPS) {
    await using at = await workspacePlace({ files: FILES });
    const made = setTrap(at, trap);
    assert.match(await ask(at.place, "diff"), /^error: git is not used here: .*(?:filter|diff)\.evil/, trap);
    assert.equal(fs.existsSync(made), false, trap);
  }
});

it("starts none of the programs that the repository's settings name otherwise", async () => {
  await using at = await workspacePlace({ files: FILES });
  const made = setTrap(at, OVERRULED_TRAPS);
  for (const args of [["status"], ["diff"], ["log", "-p"], ["blame", "b.bin"], ["show"]]) {
    assert.doesNotMatch(await ask(at.place, ...args), /^error/);
    assert.equal(fs.existsSync(made), false, args.join(" "));
  }
});

it("does not look at another folder that the settings name as the work tree", async () => {
  await using at = await workspacePlace({ files: FILES });
  fs.appendFileSync(path.join(at.place.folder, ".git/config"), "[core]\n\tworktree = /etc\n");
  assert.match(await ask(at.place, "status", "--porcelain"), /^error: git is not used here/);
});

it("cuts a long answer, and says so", async () => {
  await using at = await workspacePlace({ files: { a: "é\n".repeat(20_000) } });
  const place = { ...at.place, limits: { ...at.place.limits, maxOutputBytes: 1_001 } };
  const heard = await ask(place, "show", "HEAD:a");
  assert.match(heard, /é\n?\n\[cut after 1001 bytes: ask for less, with -n, --stat or a path\]\n$/);
  assert.doesNotMatch(heard, /\uFFFD/);
});

it("changes nothing in the workspace, not even the index", async () => {
  await using at = await workspacePlace({ files: FILES });
  const { folder } = at.place;
  const index = path.join(folder, ".git/index");
  fs.utimesSync(path.join(folder, "a.txt"), 1, 1); // An old time stamp, so that git would like to refresh its index.
  const before = fs.readFileSync(index);
  for (const args of [["status"], ["diff"], ["show"], ["log", "-g"]]) await ask(at.place, ...args);
  assert.deepEqual(fs.readFileSync(index), before);
  assert.deepEqual(fs.readdirSync(folder).sort(), [".git", ".gitattributes", "a.txt", "b.bin"]);
});
