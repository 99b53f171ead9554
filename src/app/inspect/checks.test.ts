/** Tests the conclusions of `skein doctor` from made-up facts. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defaultConfig } from "../../config/read.ts";
import { failure } from "../../core/failure.ts";
import { checkGate, checkSetup, diagnose, MIN_FREE_BYTES } from "./checks.ts";
import type { DoctorFacts, DoctorFinding } from "./facts.ts";

const GB = 1_000_000_000;
const DISK = { fileSystem: "ext4", kind: "local", freeBytes: 100 * GB, device: 1 } as const;
const STATE = { folder: "/state/here", isThere: true, runs: 2, brokenRuns: 0, disk: DISK };
const REPOSITORY = {
  top: "/here",
  gitDir: "/here/.git",
  head: "0123456789abcdef0123456789abcdef01234567",
  branch: "main",
  notices: async () => [],
  remarks: [],
  isBare: false,
  isClean: true,
  isShallow: false,
  isPartial: false,
  isLinked: false,
  objectFormat: "sha1",
};
const WELL: DoctorFacts = {
  node: { version: "24.1.0", path: "/bin/node" },
  git: { version: "2.50.1" },
  repository: REPOSITORY,
  base: REPOSITORY.head,
  configuration: { config: defaultConfig(), origins: { workers: "skein.yaml:2" }, notices: [] },
  agents: [{ role: "worker", spec: { kind: "command", command: ["./agent.sh", "--loud"] } }],
  gate: { found: "Makefile: make test", commands: [{ name: "test", run: "make test" }] },
  isolation: { sandbox: "none", has: ["a clone"], lacks: ["no sandbox"] },
  state: STATE,
  repositoryDisk: DISK,
  tree: { files: 10, bytes: GB, isCut: false },
  room: { workspaces: 14, bytes: 14 * GB },
};
const failed = (message: string, next?: string) => ({ failure: failure("repository", message, next) });
const levels = (findings: readonly DoctorFinding[]) => findings.map(({ level }) => level);

/** What a diagnosis says about some subjects. */
const of =
  (...names: readonly string[]) =>
  (facts: DoctorFacts) =>
    diagnose(facts).filter(({ name }) => names.includes(name));
const checkNode = of("node");
const checkGit = of("git");
const checkRepository = of("repository", "base");
const checkConfiguration = of("configuration");
const checkAgents = of("agent", "planner");
const checkFilters = of("filters");
const checkIsolation = of("isolation");
const checkState = of("state");
const checkDisk = of("disk");

describe("a diagnosis", () => {
  it("finds nothing bad where all is well, and warns only that there is no sandbox", () => {
    const findings = diagnose(WELL);
    assert.deepEqual(
      findings.filter(({ level }) => level !== "ok").map(({ name, text }) => [name, text]),
      [["isolation", "no sandbox"]],
    );
    const names = findings.map(({ name }) => name);
    for (const name of ["node", "git", "repository", "configuration", "agent", "gate", "state", "disk"])
      assert.ok(names.includes(name), name);
  });

  it("calls no agent missing while what files ask for waits for agreement: it may be among that", () => {
    const none = { ...WELL, agents: [], found: { why: "none", candidates: [] } } as unknown as DoctorFacts;
    assert.deepEqual(levels(checkAgents(none)), ["bad"]);
    const untrusted = { kind: "configuration", message: "files ask for 1 thing" } as const;
    const waiting = { ...none, configuration: { ...WELL.configuration, untrusted } } as DoctorFacts;
    assert.deepEqual(levels(checkAgents(waiting)), ["warn"]);
    assert.deepEqual(levels(of("trust")(waiting)), ["bad"], "no run starts all the same");
  });

  it("refuses a Node or a git that is too old, or not there", () => {
    assert.deepEqual(levels(checkNode({ ...WELL, node: { version: "23.9.0", path: "" } })), ["bad"]);
    assert.deepEqual(levels(checkNode(WELL)), ["ok"]);
    const old = { version: "2.30.2", problem: failure("repository", "git 2.30 is too old", "install it") };
    const [finding] = checkGit({ ...WELL, git: old });
    assert.deepEqual(finding, { name: "git", level: "bad", text: "git 2.30 is too old", next: "install it" });
    assert.deepEqual(levels(checkGit({ ...WELL, git: failed("no git") })), ["bad"]);
  });

  it("says what is special about a repository, and one that is broken only once", () => {
    const odd = { ...REPOSITORY, isPartial: true, isLinked: true, objectFormat: "sha256", remarks: ["odd"] };
    const findings = checkRepository({ ...WELL, repository: odd });
    assert.deepEqual(levels(findings), ["ok", "warn", "warn"]);
    assert.match(
      findings[0]!.text,
      /main at 0123456789, no uncommitted changes, a linked work tree, sha256 objects$/,
    );
    assert.match(findings[2]!.text, /partial clone/);
    const { branch: _, ...detached } = { ...REPOSITORY, isClean: false };
    const [first] = checkRepository({ ...WELL, repository: detached });
    assert.match(first!.text, /no branch at 0123456789$/);
    const broken = failed("broken", "mend it");
    assert.deepEqual(checkRepository({ ...WELL, repository: broken }), [
      { name: "repository", level: "bad", text: "broken", next: "mend it" },
    ]);
    const [unseen] = checkRepository({ ...WELL, repository: broken, git: failed("no git") });
    assert.match(unseen!.text, /not checked: git is missing/);
    assert.deepEqual(levels(checkRepository({ ...WELL, base: failed("no such commit") })), ["ok", "bad"]);
  });

  it("names each mistake of a configuration, and warns of what has no effect", () => {
    const mistakes = { kind: "configuration", message: "mistakes", lines: ["a:1: x", "a:2: y"] } as const;
    assert.deepEqual(
      checkConfiguration({ ...WELL, configuration: mistakes }).map(({ level, text }) => [level, text]),
      [
        ["bad", "a:1: x"],
        ["bad", "a:2: y"],
      ],
    );
    const configuration = { config: defaultConfig(), origins: {}, notices: ["SKEIN_X has no effect"] };
    assert.deepEqual(levels(checkConfiguration({ ...WELL, configuration })), ["ok", "warn"]);
  });

  it("looks at worker and planner by themselves", () => {
    const [worker] = WELL.agents as readonly [
      { role: "worker"; spec: { kind: "command"; command: [string] } },
    ];
    assert.equal(checkAgents(WELL)[0]!.text, "./agent.sh works and plans");
    const problem = failure("agent-failed", "p was not found", "install it");
    const planner = { role: "planner", spec: { kind: "command", command: ["p"] }, problem } as const;
    assert.deepEqual(checkAgents({ ...WELL, agents: [worker, planner] }), [
      { name: "agent", level: "ok", text: "./agent.sh works" },
      { name: "planner", level: "bad", text: "p was not found", next: "install it" },
    ]);
    const none = { role: "planner", spec: "none" } as const;
    assert.deepEqual(levels(checkAgents({ ...WELL, agents: [worker, none] })), ["ok", "ok"]);
    const { agents: _, ...unread } = WELL;
    assert.match(checkAgents(unread)[0]!.text, /correct the configuration first/);
  });

  it("warns of a budget that is too small for a single job", () => {
    const config = defaultConfig();
    const of = (budget: { readonly tokens?: number; readonly dollars?: number }) =>
      diagnose({
        ...WELL,
        configuration: {
          config: { ...config, budget: { ...config.budget, ...budget } },
          origins: {},
          notices: [],
        },
      }).filter(({ name }) => name === "budget");
    assert.deepEqual(levels(of({ dollars: 0.02, tokens: 50_000 })), ["warn", "warn"]);
    assert.match(of({ dollars: 0.02 })[0]!.text, /^budget\.dollars=0\.02 is too little for a single job/);
    assert.deepEqual(of({ dollars: 0.6, tokens: 60_000 }), []);
  });

  it("warns of no gate, and says once of a program that is missing that a run would stop", () => {
    const none = { found: "no gate was found: nothing", commands: [] };
    const [finding] = checkGate({ ...WELL, gate: none });
    assert.equal(finding!.level, "warn");
    assert.match(finding!.text, /^no gate was found: nothing; tasks will land untested$/);
    assert.ok(finding!.next);
    const problem = failure("agent-failed", "cargo was not found on the PATH");
    const commands = ["build", "test"].map((name) => ({ name, run: `cargo ${name}`, problem }));
    const findings = checkGate({ ...WELL, gate: { found: "Cargo.toml", commands } });
    assert.deepEqual(levels(findings), ["ok", "bad"]);
    assert.match(
      findings[1]!.text,
      /cargo was not found on the PATH: the gate cannot run, and a run would stop at once/,
    );
    assert.deepEqual(levels(checkGate({ ...WELL, gate: failed("unreadable") })), ["bad"]);
  });

  it("warns where workspaces would lack what is installed, unless they are set up or it is copied", () => {
    const setup = {
      command: "npm ci",
      lockFile: "package-lock.json",
      isNeeded: true,
      why: "Nothing is installed.",
    };
    const [finding] = checkSetup({ ...WELL, setup });
    assert.equal(finding?.level, "warn");
    assert.match(
      finding.text,
      /^found package-lock\.json, but workspaces are not set up\. Nothing is installed\.$/,
    );
    assert.match(finding.next ?? "", /^workspace\.setup: npm ci, in skein\.yaml/);
    assert.deepEqual(levels(checkSetup({ ...WELL, setup: { ...setup, isNeeded: false } })), ["ok"]);
    const { workspace, ...config } = defaultConfig();
    const configured = (more: Partial<typeof workspace>) => ({
      config: { ...config, workspace: { ...workspace, ...more } },
      origins: {},
      notices: [],
    });
    const copied = { ...setup, copy: ["node_modules", ".venv"] };
    assert.match(
      checkSetup({ ...WELL, setup: copied })[0]?.next ?? "",
      /^workspace\.copy: \[node_modules, \.venv\]/,
    );
    for (const configuration of [configured({ setup: "make" }), configured({ copy: copied.copy })])
      assert.deepEqual(levels(checkSetup({ ...WELL, setup: copied, configuration })), ["ok"]);
    assert.deepEqual(checkSetup({ ...WELL, setup, gate: { found: "none", commands: [] } }), []);
    assert.deepEqual(checkSetup(WELL), []);
  });

  it("refuses a filter of git that is not allowed, and is silent without", () => {
    assert.deepEqual(levels(checkFilters({ ...WELL, filters: failed("git puts a.txt through") })), ["bad"]);
    assert.deepEqual(checkFilters(WELL), []);
  });

  it("warns of a state folder in memory or on a network, and refuses one that cannot be written", () => {
    for (const kind of ["memory", "network"] as const)
      assert.deepEqual(
        levels(checkState({ ...WELL, state: { ...STATE, disk: { ...DISK, kind } } })),
        ["ok", "warn"],
        kind,
      );
    const [finding] = checkState({ ...WELL, state: { ...STATE, unwritable: "EROFS" } });
    assert.equal(finding!.level, "bad");
    assert.match(finding!.text, /cannot write to \/state\/here: EROFS/);
    assert.deepEqual(levels(checkState({ ...WELL, state: { ...STATE, brokenRuns: 1 } })), ["ok", "warn"]);
    assert.match(checkState(WELL)[0]!.text, /^\/state\/here, on ext4, 2 runs$/);
    assert.match(
      checkState({ ...WELL, state: { ...STATE, isThere: false } })[0]!.text,
      /the first run creates it$/,
    );
  });

  it("warns of a disk below the limit, or below what the workspaces take", () => {
    const withFree = (freeBytes: number, more: Partial<DoctorFacts> = {}) =>
      checkDisk({ ...WELL, state: { ...STATE, disk: { ...DISK, freeBytes } }, ...more });
    assert.deepEqual(levels(withFree(15 * GB)), ["ok"]);
    const [tight] = withFree(13 * GB);
    assert.equal(tight!.level, "warn");
    assert.match(tight!.text, /^13 GB free .*; 14 workspaces of 1\.0 GB take up to 14 GB/);
    assert.match(tight!.text, /14 GB are recommended/);
    const { tree: _, room: __, ...unknown } = WELL;
    const state = { ...STATE, disk: { ...DISK, freeBytes: MIN_FREE_BYTES - 1 } };
    assert.deepEqual(levels(checkDisk({ ...unknown, state })), ["warn"]);
    const other = { ...DISK, device: 2, freeBytes: MIN_FREE_BYTES - 1 };
    assert.deepEqual(levels(withFree(15 * GB, { repositoryDisk: other })), ["ok", "warn"]);
    const large = { files: 1, bytes: GB, isCut: true };
    assert.match(
      withFree(15 * GB, { tree: large })[0]!.text,
      /of more than 1\.0 GB take more than 14 GB, plus/,
    );
  });

  it("says what isolation there is, and what there is not", () => {
    const isolation = {
      sandbox: "none",
      has: ["one", "two"],
      lacks: ["no sandbox", "a shared folder"],
    } as const;
    const findings = checkIsolation({ ...WELL, isolation });
    assert.deepEqual(
      findings.map(({ level, text }) => [level, text]),
      [
        ["ok", "one; two"],
        ["warn", "no sandbox"],
        ["warn", "a shared folder"],
      ],
    );
    assert.ok(findings[1]!.next);
  });

  it("writes sizes as people say them", () => {
    const sizes = [999, 1_000, 9_949, 10_400, 1_500_000, 83 * GB, 5e15].map((freeBytes) => {
      const [finding] = checkDisk({ ...WELL, state: { ...STATE, disk: { ...DISK, freeBytes } } });
      return /^\S+ \S+/.exec(finding!.text)?.[0];
    });
    assert.deepEqual(sizes, ["999 bytes", "1.0 kB", "9.9 kB", "10 kB", "1.5 MB", "83 GB", "5000 TB"]);
  });
  it("says how a server at another place is named, so that it can be pasted", () => {
    const place = "http://127.0.0.1:9/v1";
    const spec = {
      kind: "model",
      model: { provider: "ollama", model: "q:7b", baseUrl: place },
      fallbacks: [],
    } as const;
    const elsewhere = { from: "servers", seen: `ollama answers at ${place}`, spec } as const;
    assert.deepEqual(
      diagnose({ ...WELL, found: { candidates: [elsewhere] } }).flatMap(({ name, text }) =>
        name === "also here" ? [text] : [],
      ),
      [
        `ollama answers at ${place}: --set 'agent={kind: model, provider: ollama, model: "q:7b", baseUrl: "${place}"}'`,
      ],
    );
  });
});
