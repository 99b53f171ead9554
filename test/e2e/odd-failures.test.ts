/** Tests gates and workers that never end, never stop writing, or destroy their own files: nothing is lost. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import type { Event } from "../../src/core/log/event.ts";
import { type Ended, makePlace, type Place } from "./cli-place.ts";
import { ALONE, agentOf, COMPLETE, checkoutOf, eventsOf, isAlive, ONCE, pidIn, runOf } from "./odd-place.ts";

const LIMIT = { timeout: 90_000 };
const SHORT = ["--set", "timeout.work=1s", "--set", "timeout.grace=1s"];

async function alone(
  place: Place,
  text: string,
  more: readonly string[] = ONCE,
): Promise<Ended & { readonly run: string }> {
  const agent = await agentOf(place, "odd.sh", text);
  const ended = await place.skein("run", "x", "--agent", agent, ...ALONE, ...more);
  return { ...ended, run: runOf(ended.out) };
}

const homeOf = ({ out }: Ended) => /^kept in (.*)$/m.exec(out)![1]!;

/** No process that was started for the run is left, nor the folders that it worked in. */
async function nothingLeft(ended: Ended, ...pids: readonly number[]): Promise<void> {
  for (const pid of pids) assert.ok(!isAlive(pid), `process ${pid} is still there`);
  const home = homeOf(ended);
  assert.deepEqual(await readdir(path.join(home, "programs")).catch(() => []), []);
  assert.ok(!existsSync(path.join(home, "workspaces")), "a workspace is left");
}

const of = <T extends Event["type"]>(events: readonly Event[], type: T) =>
  events.filter((event): event is Extract<Event, { type: T }> => event.type === type);

const says = (ended: Ended, words: RegExp) => assert.match(ended.out + ended.err, words);

describe("a run goes on, or ends in order,", { concurrency: 2 }, () => {
  it(
    "with a gate that never ends: it is red, says why, and all that it started is ended",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const pids = path.join(place.folder, "pids");
      const gate = `test ! -f x.txt || { (trap '' TERM HUP; echo $$ >> '${pids}'; exec tail -f /dev/null) & setsid tail -f /dev/null & echo $! >> '${pids}'; wait; }`;
      const agent = await agentOf(place, "x.sh", `echo x > x.txt; ${COMPLETE}`);
      // The gate's sandbox numbers processes on its own, so the ids would not be the system's.
      const sets = ["--set", "gateTimeout=1s", "--set", "gateSandbox=off"];
      const args = ["--planner", "none", "--gate", gate, ...sets, ...ONCE];
      const ended = await place.skein("run", "x", "--agent", agent, ...args);
      assert.equal(ended.code, 1, ended.out + ended.err);
      says(ended, /no end within 1 s/);
      const started = (await readFile(pids, "utf8")).trim().split("\n").map(Number);
      assert.ok(started.length >= 2);
      await nothingLeft(ended, ...started);
      const kept = `refs/skein/salvage/${runOf(ended.out)}/t.1`;
      assert.equal(await place.repository.git("show", `${kept}:x.txt`), "x");
    },
  );

  it(
    "with a worker that never ends: it is replaced after the grace, and its work is found by skein salvage",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const pid = path.join(place.folder, "pid");
      const hang = `echo half > half.txt; echo $$ > '${pid}'; exec tail -f /dev/null`;
      const text = `[ $SKEIN_ATTEMPT != 1 ] || { ${hang}; }; echo x > x.txt; ${COMPLETE}`;
      const ended = await alone(place, text, SHORT);
      assert.equal(ended.code, 0, ended.out + ended.err);
      says(ended, /work:t#1 timed out/);
      await nothingLeft(ended, await pidIn(pid));
      const listed = await place.skein("salvage");
      assert.match(listed.out, new RegExp(`^${ended.run}/t\\.1 `, "m"));
      const restored = await place.skein("salvage", "restore", `${ended.run}/t.1`, "--branch", "again");
      assert.equal(restored.code, 0, restored.err);
      const landed = await place.repository.git("ls-tree", "--name-only", `skein/${ended.run}/target`);
      assert.equal(landed, "README.md\nx.txt");
      assert.equal(await place.repository.git("show", "again:half.txt"), "half");
    },
  );

  it(
    "with a worker that writes 600 MB to its output: the transcript and our memory stay small",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const memory = path.join(place.folder, "memory");
      // The largest memory that the engine ever had, in kB, as the system tells it.
      const engine = `pid=$(sed 's/.*"pid": *\\([0-9]*\\).*/\\1/' '${place.state}'/*/runs/*/owner.json)`;
      const look = `${engine}; { grep VmHWM "/proc/$pid/status" || ps -o rss= -p $pid; } > '${memory}'`;
      const pour = "head -c 600000000 /dev/zero | tr '\\0' 'x'; echo";
      const agent = await agentOf(place, "x.sh", `${pour}; ${look}; echo done > x.txt; ${COMPLETE}`);
      const sets = ["--set", "log.maxTranscript=100kB"];
      // A process of its own, whose memory is that of this run alone.
      const ended = await place.start("run", "x", "--agent", agent, ...ALONE, ...sets).ended;
      assert.equal(ended.code, 0, ended.out + ended.err);
      const kilobytes = Number(/\d+/.exec(await readFile(memory, "utf8"))?.[0]);
      assert.ok(kilobytes > 10_000 && kilobytes < 400_000, `${kilobytes} kB`);
      const folder = path.join(homeOf(ended), "transcripts");
      for (const name of await readdir(folder))
        assert.ok((await stat(path.join(folder, name))).size < 200_000, name);
      assert.ok(ended.out.length < 10_000);
    },
  );

  it(
    "with a worker that writes too large a file: the attempt fails with the reason, and the next one may succeed",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const text = `[ $SKEIN_ATTEMPT != 1 ] || exec head -c 5000000 /dev/zero > big.bin; echo small > x.txt; ${COMPLETE}`;
      const ended = await alone(place, text, ["--set", "workspace.maxFile=1MB"]);
      assert.equal(ended.code, 0, ended.out + ended.err);
      says(ended, /attempt 1: odd\.sh wrote a file larger than 1000000 bytes and was stopped/);
      assert.equal(
        await place.repository.git("ls-tree", "--name-only", `skein/${ended.run}/target`),
        "README.md\nx.txt",
      );
    },
  );

  it(
    "with a worker that leaves a daemon in a session of its own: it is ended with the turn",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const pid = path.join(place.folder, "daemon");
      // The daemon writes its process id to a pipe, so that the worker ends only once the daemon runs.
      const daemon = `setsid sh -c 'echo $$ > "$1.pipe"; exec tail -f /dev/null' sh '${pid}' </dev/null >/dev/null 2>&1 &`;
      const ended = await alone(
        place,
        `mkfifo '${pid}.pipe'; ${daemon}\nread n < '${pid}.pipe'; echo $n > '${pid}'; echo x > x.txt; ${COMPLETE}`,
      );
      assert.equal(ended.code, 0, ended.out + ended.err);
      await nothingLeft(ended, await pidIn(pid));
    },
  );

  const destroyed: readonly (readonly [string, string, RegExp])[] = [
    ["its .git", "rm -rf .git", /1 of 1 task done/],
    [
      "all of its folder",
      'cd .. && rm -rf "$OLDPWD" && mkdir "$OLDPWD" && cd "$OLDPWD" && rm -f README.md',
      /1 of 1 task done/,
    ],
    ["its .git, and puts a link in its place", `rm -rf .git && ln -s '/etc' .git`, /1 of 1 task done/],
  ];
  for (const [what, command, words] of destroyed)
    it(`with a worker that deletes ${what}: what it made still lands`, LIMIT, async () => {
      await using place = await makePlace();
      const before = await checkoutOf(place);
      const ended = await alone(place, `${command}\necho x > x.txt; ${COMPLETE}`);
      assert.equal(ended.code, 0, ended.out + ended.err);
      says(ended, words);
      assert.match(
        await place.repository.git("ls-tree", "--name-only", `skein/${ended.run}/target`),
        /^x\.txt$/m,
      );
      assert.deepEqual(await checkoutOf(place), before);
      await nothingLeft(ended);
    });

  it(
    "with a worker that is gone with its folder: the attempt says so, and the next one gets a new folder",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const text = `[ $SKEIN_ATTEMPT != 1 ] || { rm -rf "$PWD"; ${COMPLETE}; exit 0; }; echo x > x.txt; ${COMPLETE}`;
      const ended = await alone(place, text, []);
      assert.equal(ended.code, 0, ended.out + ended.err);
      says(ended, /attempt 1: .*the worker removed the folder that it worked in/);
      assert.equal(
        await place.repository.git("ls-tree", "--name-only", `skein/${ended.run}/target`),
        "README.md\nx.txt",
      );
    },
  );

  it("with a worker that makes 20,000 files, which all land", LIMIT, async () => {
    await using place = await makePlace();
    const many = `awk 'BEGIN { for (i = 0; i < 200; i++) print "d/" i }' | xargs mkdir -p
        awk 'BEGIN { for (i = 0; i < 20000; i++) print "d/" i % 200 "/" i }' | xargs touch`;
    const ended = await alone(place, `${many}\n${COMPLETE}`);
    assert.equal(ended.code, 0, ended.out + ended.err);
    const files = await place.repository.git("ls-tree", "-r", "--name-only", `skein/${ended.run}/target`);
    assert.equal(files.split("\n").length, 20_001);
    assert.ok(ended.out.length < 10_000, "20,000 names are not told one by one");
    const shown = await place.skein("show", ended.run, "the goal");
    assert.ok(shown.out.length < 10_000);
  });

  it("with a handoff of 100 MB: it is not read, and said", LIMIT, async () => {
    await using place = await makePlace();
    const ended = await alone(
      place,
      `echo x > x.txt; head -c 100000000 /dev/zero | tr '\\0' '{' > "$SKEIN_HANDOFF"`,
    );
    assert.equal(ended.code, 1, ended.out + ended.err);
    says(ended, /left an answer of 100000000 bytes; 8000000 are read/);
    assert.match((await place.skein("salvage")).out, /t\.1 /);
  });

  it(
    "with a planner that answers 50 MB of JSON: it is asked again with the reason, and a bounded log",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const planner = await agentOf(
        place,
        "planner.sh",
        `if [ $SKEIN_TURN = 1 ]; then printf '{"scratchpad":"","tasks":['; yes '{"id":"a","description":"d","acceptance":"b","scope":["a.txt"]},' | head -c 50000000; echo ']}'
       elif [ $SKEIN_TURN = 2 ]; then printf '{"tasks":[],"scratchpad":"'; head -c 50000000 /dev/zero | tr '\\0' 's'; echo '"}'
       else exec '${place.agent}'; fi`,
      );
      const args = ["--planner", planner, "--gate", "none", "--set", "retry.first=1ms"];
      const ended = await place.skein("run", "x", "--agent", place.agent, ...args);
      assert.equal(ended.code, 0, ended.out + ended.err);
      says(ended, /2 of 2 tasks done/);
      const log = path.join(homeOf(ended), "events.db");
      assert.ok((await stat(log)).size < 5_000_000);
      const rejected = of(await eventsOf(place, runOf(ended.out)), "plan.rejected");
      assert.equal(rejected.length, 2);
      assert.ok(ended.out.length < 20_000);
    },
  );

  it(
    "with a worker that changes the user's checkout: it is said with the task, in the report and by show",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const { folder } = place.repository;
      const ended = await alone(
        place,
        `echo stray > '${folder}/stray.txt'; echo mine >> '${folder}/README.md'; echo x > x.txt; ${COMPLETE}`,
      );
      assert.equal(ended.code, 0, ended.out + ended.err);
      const words = "the user's checkout changed while this task was running: README\\.md, stray\\.txt";
      says(ended, new RegExp(`the goal is ready to land, but ${words}$`, "m"));
      says(ended, new RegExp(`^Open concerns .*\\n {2}the goal: ${words}$`, "m"));
      assert.match(
        (await place.skein("show", ended.run, "the goal")).out,
        new RegExp(`^Concerns\\n {2}${words}$`, "m"),
      );
      assert.equal(await place.repository.git("status", "--porcelain"), " M README.md\n?? stray.txt");
    },
  );

  it(
    "with a worker that moves the target: it is noticed, not trusted, and what was put there was not gated by us",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const git = `git --git-dir "$(dirname "$(cat .git/objects/info/alternates)")"`;
      const moves = `${git} update-ref "refs/heads/skein/$SKEIN_RUN/target" "$(${git} commit-tree -p HEAD -m evil 'HEAD^{tree}')"`;
      const once = path.join(place.folder, "once");
      const ended = await alone(
        place,
        `echo x > x.txt; [ -e '${once}' ] || { : > '${once}'; ${moves}; }\n${COMPLETE}`,
        [],
      );
      says(ended, /Somebody else moved the target to [0-9a-f]{10}/);
      const moved = of(await eventsOf(place, ended.run), "target.moved");
      assert.equal(moved.length, 1);
      const landings = of(await eventsOf(place, ended.run), "batch.landed");
      assert.ok(landings.every(({ commit }) => commit !== moved[0]!.tip));
      const notes = await place.repository.git("notes", `--ref=skein/${ended.run}`, "list");
      assert.ok(!notes.includes(moved[0]!.tip), "it has no proof");
    },
  );

  it("with a worker that moves the user's own branches: it is said with the task", LIMIT, async () => {
    await using place = await makePlace();
    const git = `git --git-dir "$(dirname "$(cat .git/objects/info/alternates)")"`;
    const moves = `${git} update-ref refs/heads/main "$(${git} commit-tree -p HEAD -m evil 'HEAD^{tree}')"`;
    const ended = await alone(place, `echo x > x.txt; ${moves}; ${git} tag evil; ${COMPLETE}`);
    assert.equal(ended.code, 0, ended.out + ended.err);
    says(
      ended,
      /the user's checkout changed while this task was running: HEAD, refs\/heads\/main, refs\/tags\/evil/,
    );
    assert.equal(
      await place.repository.git("log", "-1", "--format=%s"),
      "evil",
      "it is the user's: nobody else moves it back",
    );
  });
});
