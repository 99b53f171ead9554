/** Tests turns of agents that speak the Agent Client Protocol: files, permissions, logins, quotas, clean-up. */
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { failureOf, planAsk, textOf, workAsk } from "../../../../test/contracts/agent.ts";
import { isRunning } from "../../../../test/contracts/programs.ts";
import { scriptedAcp } from "../../../../test/support/acp-agent/agent.ts";
import type { AcpScript, Step } from "../../../../test/support/acp-agent/script.ts";
import { type Heard, hearing } from "../../../../test/support/agent-parts.ts";
import type { Ask } from "../../../ports/agent.ts";
import type { AcpAgent } from "./acp-agent.ts";

const HANDOFF = '{"status": "complete", "summary": "made it"}';
const done: Step = { do: "say", text: HANDOFF };

describe("an agent that is talked with", () => {
  let home: string;
  let folder: string;
  let heard: Heard;
  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), "skein-acp-"));
    folder = path.join(home, "workspace");
    mkdirSync(folder);
    heard = hearing();
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const never = new AbortController().signal;
  const turn = (
    script: AcpScript,
    {
      ask = {},
      signal = never,
      ...more
    }: Partial<ConstructorParameters<typeof AcpAgent>[0]> & { ask?: Partial<Ask>; signal?: AbortSignal } = {},
  ) =>
    scriptedAcp(script, path.join(home, "turns"), heard, more).turn({ ...workAsk(folder), ...ask }, signal);
  const follow = (...steps: readonly Step[]) => turn({ prompts: [steps] });
  const shown = () => [...heard.texts.values()].join("");

  it("hears its role, its task, and how to answer", async () => {
    await follow(done);
    const told = shown();
    for (const words of [
      "You work.",
      "Task: t.1 (a)",
      "Make a",
      "end with your handoff as one JSON object",
    ]) {
      assert.ok(told.includes(words), words);
    }
    const kept = JSON.parse(readFileSync(path.join(home, "turns", "work-t.1-1", "brief.json"), "utf8"));
    assert.match(kept.told, /^You work\./);
  });

  it("is asked once more where its handoff is missing or broken", async () => {
    const missing = await turn({ prompts: [[{ do: "say", text: "All done!" }], [done]] });
    assert.equal(textOf(missing), HANDOFF);
    const broken = { do: "say", text: '{"status": "great"}' } as const;
    assert.equal(textOf(await turn({ prompts: [[broken], [done]] })), HANDOFF);
    assert.match(shown(), /"status\\" is \\"great\\"|status.*great/);
  });

  it("is asked no third time: what it said is given back", async () => {
    const prompts: readonly Step[][] = [[{ do: "say", text: "one" }], [{ do: "say", text: "two" }], [done]];
    assert.equal(textOf(await turn({ prompts })), "two");
    assert.equal(textOf(await turn({ prompts: [[{ do: "say", text: "one" }], []] })), "one");
  });

  it("is not asked again where the answer is good, also in the middle of other words", async () => {
    const said = await turn({
      prompts: [[{ do: "say", text: `Well.\n${HANDOFF}\n` }], [{ do: "exit", code: 1 }]],
    });
    assert.equal(textOf(said), HANDOFF);
  });

  it("says what each end of a prompt means", async () => {
    const failing = async (stop: string, steps: readonly Step[] = []) =>
      failureOf(await turn({ prompts: [steps], stop })).message;
    assert.match(await failing("refusal"), /refused to go on/);
    assert.match(await failing("cancelled"), /gave up its own turn/);
    assert.match(await failing("max_tokens"), /used all tokens/);
    assert.match(await failing("max_turn_requests"), /as often as it may/);
    assert.equal(textOf(await turn({ prompts: [[done]], stop: "max_tokens" })), HANDOFF);
  });

  it("gives a sign at every message", async () => {
    let signs = 0;
    const updates: Step = { do: "flood", updates: 20 };
    const onSign = () => {
      signs += 1;
    };
    await turn({ prompts: [[updates, done]] }, { ask: { onSign } });
    assert.ok(signs >= 23, String(signs));
  });

  it("is told which MCP servers there are, but for those that it cannot use", async () => {
    const server = {
      type: "stdio",
      name: "docs",
      command: "d",
      args: [],
      env: [{ name: "A", value: "1" }],
    } as const;
    const sse = { type: "sse", name: "old", url: "http://127.0.0.1:1", headers: [] } as const;
    const http = { ...sse, type: "http", name: "web" } as const;
    await turn({ prompts: [[done]] }, { mcpServers: [server, sse, http] });
    const opened =
      shown()
        .split("\n")
        .find((line) => line.startsWith('{"cwd"')) ?? "{}";
    const { cwd, mcpServers } = JSON.parse(opened) as { cwd: string; mcpServers: { name: string }[] };
    assert.equal(cwd, folder);
    assert.deepEqual(
      mcpServers.map(({ name }) => name),
      ["docs", "web"],
    );
    assert.match(shown(), /some MCP servers are left out/);
  });

  describe("that asks for something", () => {
    it("reads and writes files of its workspace through us", async () => {
      writeFileSync(path.join(folder, "a.txt"), "1\n2\n3\n4\n");
      const text = textOf(
        await follow(
          { do: "read", path: path.join(folder, "a.txt"), line: 2, limit: 2 },
          { do: "write", path: path.join(folder, "new/b.txt"), text: "b", by: "client" },
          { do: "read", path: path.join(folder, "none") },
        ),
      );
      const missing = "error -32002: Resource not found: none";
      assert.deepEqual(text.split("\n"), ['{"content":"2\\n3\\n"}', "{}", missing]);
      assert.equal(readFileSync(path.join(folder, "new/b.txt"), "utf8"), "b");
    });

    it("is not offered to read through us if it takes no error of ours for a missing file", async () => {
      const create: Step = { do: "create", path: path.join(folder, "c.txt"), text: "c" };
      assert.match(textOf(await follow(create)), /error -32002/);
      const script = { prompts: [[create, done]] };
      assert.match(textOf(await turn(script, { readsItself: true })), /complete/);
      assert.equal(readFileSync(path.join(folder, "c.txt"), "utf8"), "c");
    });

    it("gets nothing outside of it, nor git's own files", async () => {
      writeFileSync(path.join(home, "secret"), "the secret");
      symlinkSync(home, path.join(folder, "out"));
      mkdirSync(path.join(folder, ".git"));
      const write = (file: string): Step => ({ do: "write", path: file, text: "x", by: "client" });
      const text = textOf(
        await follow(
          ...["/etc/passwd", "../secret", "out/secret"].map((file): Step => ({ do: "read", path: file })),
          ...[path.join(home, "made"), "out/made", ".git/config", "."].map(write),
        ),
      );
      assert.deepEqual(
        text.split("\n").map((line) => line.slice(0, 13)),
        Array.from({ length: 7 }, () => "error -32602:"),
      );
      assert.ok(!text.includes("the secret") && !existsSync(path.join(home, "made")));
      assert.ok(!existsSync(path.join(folder, ".git/config")));
    });

    it("changes nothing as a planner", async () => {
      const steps: readonly Step[] = [
        { do: "write", path: "a", text: "a", by: "client" },
        { do: "ask", call: { kind: "edit", title: "change a" } },
        { do: "ask", call: { kind: "read", title: "look at a" } },
      ];
      const said = await turn({ prompts: [steps] }, { ask: planAsk(folder) });
      assert.deepEqual(textOf(said).split("\n"), ["error -32602: this role changes no files", "no", "yes"]);
    });

    it("has its answer at once: yes inside, no outside, no error left unsaid", async () => {
      const text = textOf(
        await follow(
          { do: "ask", call: { kind: "edit", title: "inside", locations: [{ path: "a.ts" }] } },
          { do: "ask", call: { kind: "edit", title: "outside", locations: [{ path: "/etc/hosts" }] } },
          { do: "ask", call: {}, options: [{ optionId: "?", name: "?", kind: "allow_always" }] },
          { do: "call", method: "terminal/create" },
          { do: "call", method: "elicitation/create" },
          { do: "call", method: "_of/its/own" },
        ),
      );
      const lines = text.split("\n");
      assert.deepEqual(lines.slice(0, 3), ["yes", "no", "cancelled"]);
      assert.deepEqual(
        lines.slice(3).map((line) => line.slice(0, 12)),
        Array(3).fill("error -32601"),
      );
      assert.match(shown(), /\(allowed: inside\)[\s\S]*\(refused: outside\)/);
    });
  });

  describe("that does not do what it should", () => {
    it("is given up if it does not greet", async () => {
      const { kind, message } = failureOf(await turn({ prompts: [], greets: "never" }, { startMs: 300 }));
      assert.equal(kind, "setup", "it is not tried again and again");
      assert.match(message, /did not answer initialize/);
    });

    it("is refused with another version of the protocol", async () => {
      const { kind, message } = failureOf(await turn({ prompts: [], greets: "with version 7" }));
      assert.equal(kind, "setup");
      assert.match(message, /speaks version 7.*Skein speaks version 1/);
    });

    it("needs a login: that is said, with what it offers", async () => {
      const login = { id: "browser", name: "In the browser", description: "run `it login`" };
      const { kind, message, account } = failureOf(await turn({ prompts: [[done]], login }));
      assert.deepEqual([kind, account], ["authentication", "acp"]);
      assert.match(message, /run `it login`/);
    });

    it("is logged in by a key that it was given", async () => {
      const login = { id: "openai-api-key", name: "By key" };
      assert.equal(textOf(await turn({ prompts: [[done]], login })), HANDOFF);
    });

    it("is not logged in where it has no key for a login by key, whatever it calls that", async () => {
      const login = { id: "api-key", name: "API Key", description: "Use an API key" };
      const loginFails = "CODEX_API_KEY or OPENAI_API_KEY is not set";
      const { kind, message, next, account } = failureOf(
        await turn({ prompts: [[done]], login, loginFails }),
      );
      assert.deepEqual([kind, account], ["authentication", "acp"]);
      assert.match(message, /is not logged in: .*OPENAI_API_KEY is not set .*Use an API key/);
      assert.match(next ?? "", /skein resume/);
      const busy = await turn({ prompts: [[done]], login, loginFails: "Rate limit reached (429)" });
      assert.equal(failureOf(busy).kind, "quota");
    });

    it("waits for its model again and again: that is said, and it is not waited for with it", async () => {
      const error = { message: "Reconnecting... waiting for network", additionalDetails: "no route" };
      const update: Step = {
        do: "update",
        update: { sessionUpdate: "session_info_update", _meta: { codex: { error } } },
      };
      const { kind, message } = failureOf(
        await turn({ prompts: [[update, update, update, update, { do: "hang" }]] }),
      );
      assert.equal(kind, "agent-unreachable");
      assert.match(message, /waiting for network: no route/);
      assert.match(shown(), /^Reconnecting/m);
      const word: Step = { do: "say", text: "There it is again.\n" };
      assert.match(
        textOf(await turn({ prompts: [[update, update, update, word, update, done]] })),
        /complete/,
      );
    });

    it("has used up its account, as an error or in words", async () => {
      const words = "Usage limit reached, try again in 2 hours";
      for (const step of [
        { do: "fail", code: -32603, message: "Internal error", data: { details: words } },
        { do: "say", text: words },
      ] as const) {
        const { kind, account, until } = failureOf(await turn({ prompts: [[step]] }, { now: () => 1_000 }));
        assert.deepEqual([kind, account, until], ["quota", "acp", 7_201_000]);
      }
      const about: Step = { do: "say", text: `${words}: so says the client now.\n${HANDOFF}` };
      assert.equal(textOf(await follow(about)), HANDOFF);
    });

    it("leaves in the middle: its exit code and last words are told", async () => {
      const { kind, message } = failureOf(
        await follow({ do: "log", text: "cannot find x\n" }, { do: "exit", code: 3 }),
      );
      assert.equal(kind, "agent-failed");
      assert.match(message, /exit code 3 in the middle of its turn.*cannot find x/s);
      assert.equal(failureOf(await follow({ do: "exit", code: 75 })).kind, "agent-unreachable");
    });

    it("is no program of this protocol", async () => {
      for (const command of [["cat"], ["true"], ["sh", "-c", "yes"]] as const) {
        const { kind } = failureOf(await turn({ prompts: [] }, { command, startMs: 500 }));
        assert.match(kind, /setup|agent-unreachable/, command.join(" "));
      }
      const { message } = failureOf(await turn({ prompts: [] }, { command: ["no-such-agent"] }));
      assert.match(message, /could not be started: no-such-agent was not found/);
    });

    it("babbles, and is understood all the same", async () => {
      const text =
        "hello\n[]\n7\n{}\n" + '{"jsonrpc":"2.0","id":99,"result":{}}\n{"jsonrpc":"2.0","method":"x"}\n';
      const odd: Step = { do: "update", update: { sessionUpdate: "of a new kind", content: 7 } };
      assert.equal(textOf(await follow({ do: "babble", text }, odd, done)), HANDOFF);
    });

    it("floods us with updates, in bounded memory", async () => {
      const before = process.memoryUsage().rss;
      assert.equal(textOf(await follow({ do: "flood", updates: 20_000 }, done)), HANDOFF);
      // The test's own listener keeps the 20 MB that were written for people.
      const moreMb = Math.round((process.memoryUsage().rss - before) / 1e6);
      assert.ok(moreMb < 200, `${moreMb} MB more`);
    });

    it("is asked to stop first, so that what it has cost is known", async () => {
      const stop = new AbortController();
      const begun = Promise.withResolvers<void>();
      const onSign = () => shown().includes("begun") && begun.resolve();
      const script = {
        prompts: [[{ do: "say", text: "begun" }, { do: "hang" }]],
        usage: { totalTokens: 9 },
      } as const;
      const ending = turn(script, { signal: stop.signal, ask: { onSign } });
      await begun.promise;
      stop.abort();
      const said = await ending;
      assert.equal(failureOf(said).kind, "interrupted");
      assert.deepEqual(said.spent, { tokens: 9 });
    });

    it("is ended with everything if it does not listen", async () => {
      const hang: Step = { do: "hang", isDeaf: true };
      const said = await turn({ prompts: [[{ do: "say", text: "begun" }, hang]] }, { ask: { maxMs: 2_000 } });
      assert.equal(failureOf(said).kind, "timed-out");
    });
  });

  it("leaves nothing behind that it started", async () => {
    const script = `sleep 600 & echo $! > ${JSON.stringify(path.join(home, "pid"))}; exec "$@"`;
    const { command } = {
      command: ["sh", "-c", script, "sh", process.execPath, "-e", "process.exit(0)"] as const,
    };
    failureOf(await turn({ prompts: [] }, { command }));
    assert.equal(isRunning(Number(readFileSync(path.join(home, "pid"), "utf8"))), false);
  });

  it("has its secrets blotted out of what it says", async () => {
    const redact = (text: string) => text.replaceAll("s3cret", "…");
    const said = await turn(
      { prompts: [[{ do: "say", text: '{"status": "failed", "summary": "s3cret"}' }]] },
      { redact },
    );
    assert.ok(!textOf(said).includes("s3cret"));
    const fail: Step = { do: "fail", code: 1, message: "s3cret" };
    assert.ok(!failureOf(await turn({ prompts: [[fail]] }, { redact })).message.includes("s3cret"));
  });
});
