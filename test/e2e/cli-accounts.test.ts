/** Tests messages and exit codes when a key is wrong, a quota is used up, or a price is unknown. */
import assert from "node:assert/strict";
import { glob, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { FolderMailbox } from "../../src/adapters/mailboxes.ts";
import {
  type Answerer,
  type ModelServer,
  quotaExhausted,
  type SeenCall,
  startModelServer,
} from "../support/model-server/model-server.ts";
import { makePlace, type Place } from "./cli-place.ts";
import { holds, KEY } from "./model-place.ts";

const LIMIT = { timeout: 120_000 };
const HOUR = 3_600_000;

/** Plays a worker that writes one file, then hands it in. */
const works: Answerer = ({ messages }) =>
  messages.at(-1)?.toolResults.length
    ? { tools: [{ name: "handoff", input: { status: "complete", summary: "wrote it", concerns: [] } }] }
    : { tools: [{ name: "write", input: { path: "new.txt", content: "made\n" } }] };

const agentAt = (server: ModelServer) =>
  JSON.stringify({ kind: "model", provider: "mine", model: "m", baseUrl: `${server.url}/v1`, key: "MY_KEY" });

const run = (place: Pick<Place, "skein">, server: ModelServer, ...more: readonly string[]) =>
  place.skein("run", "write a file", "--planner", "none", "--set", `agent=${agentAt(server)}`, ...more);

const runName = (out: string) => /^run +(\S+)$/m.exec(out)?.[1] ?? "none";

const counted = ({ calls }: ModelServer) =>
  calls.reduce(
    (sum, { usage }: SeenCall) => ({
      input: sum.input + (usage?.input ?? 0),
      output: sum.output + (usage?.output ?? 0),
    }),
    { input: 0, output: 0 },
  );

describe("a key that is refused", () => {
  it(
    "ends the run at once with 5, names the variable, and resume goes on with a right one",
    LIMIT,
    async () => {
      await using place = await makePlace();
      await using server = await startModelServer({ answer: works, keys: ["right"] });
      const wrong = await run(place.with({ env: { MY_KEY: "wrong" } }), server);
      assert.equal(wrong.code, 5, wrong.out + wrong.err);
      assert.match(wrong.err, /^skein: the credentials of mine .* were refused: /m);
      assert.match(wrong.err, /^try: set MY_KEY to a key that works, then skein resume \S+$/m);
      assert.equal(server.calls.length, 1);
      assert.ok(!(wrong.out + wrong.err).includes('"wrong"'));
      const name = runName(wrong.out);
      assert.match((await place.skein("status", name)).out, /^account +mine.*: credentials refused/m);
      const right = await place.with({ env: { MY_KEY: "right" } }).skein("resume", name);
      assert.equal(right.code, 0, right.out + right.err);
      const { input, output } = counted(server);
      const [tokens, calls] = [(input + output).toLocaleString("en"), server.calls.length - 1];
      assert.match(right.out, new RegExp(`^  cost: ${tokens} tokens, price unknown for 1 job$`, "m"));
      assert.match(
        right.out,
        new RegExp(`^  ${calls} model calls: ${input.toLocaleString("en")} tokens in, ${output} out; `, "m"),
      );
    },
  );

  it("is in no file, whatever its variable is called and whatever its provider repeats", LIMIT, async () => {
    await using place = await makePlace();
    const body = { error: { message: `${KEY} is bad` } };
    await using server = await startModelServer({
      answer: () => ({ fault: { is: "status", status: 400, body } }),
    });
    const agent = agentAt(server).replace("MY_KEY", "GATEWAY");
    const { out, err } = await place
      .with({ env: { GATEWAY: KEY } })
      .skein("run", "write a file", "--planner", "none", "--set", `agent=${agent}`);
    assert.match(out + err, /\[redacted\] is bad/);
    assert.ok(!(out + err).includes(KEY));
    assert.deepEqual(await holds(place.state, KEY), []);
  });

  it("is not even called for if it is missing", LIMIT, async () => {
    await using place = await makePlace();
    await using server = await startModelServer({ answer: works });
    const { code, err } = await run(place, server);
    assert.equal(code, 5);
    assert.match(err, /MY_KEY is not set\ntry: set MY_KEY/);
    assert.equal(server.calls.length, 0);
  });
});

describe("a quota that is used up", () => {
  it(
    "ends the run with 75 if it is back later than quota.wait, and nothing more is called",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const answer: Answerer = ({ wire }) => quotaExhausted(wire, { resetAt: Date.now() + 13 * HOUR });
      await using server = await startModelServer({ answer });
      const parked = await run(place.with({ env: { MY_KEY: "k" } }), server);
      assert.equal(parked.code, 75, parked.out + parked.err);
      assert.match(parked.out, /mine .* is rate limited until /);
      assert.match(
        parked.err,
        /^skein: mine .* is rate limited until \d{4}-.* \(in 1[23] h .*quota\.wait is 12h/m,
      );
      assert.match(parked.err, /^try: skein resume \S+ after .*--set quota\.wait=1[34]h/m);
      assert.equal(server.calls.length, 1);
      const name = runName(parked.out);
      assert.match((await place.skein("status", name)).out, /^account +mine .* is rate limited until /m);
      const again = await place.with({ env: { MY_KEY: "k" } }).skein("resume", name);
      assert.equal(again.code, 75, again.out + again.err);
      assert.equal(server.calls.length, 1, "it is known to be used up");
      await using other = await startModelServer({ answer: works });
      const set = ["--set", `agent=${agentAt(other)}`];
      const elsewhere = await place.with({ env: { MY_KEY: "k" } }).skein("resume", name, ...set);
      assert.equal(elsewhere.code, 0, elsewhere.out + elsewhere.err);
      assert.equal(server.calls.length, 1, "the work went on with another account");
    },
  );

  it("keeps nobody from giving the run up: what was said meanwhile is heard first", LIMIT, async () => {
    await using place = await makePlace();
    const answer: Answerer = ({ wire }) => quotaExhausted(wire, { resetAt: Date.now() + 13 * HOUR });
    await using server = await startModelServer({ answer });
    const here = place.with({ env: { MY_KEY: "k" } });
    const parked = await run(here, server);
    assert.equal(parked.code, 75, parked.out + parked.err);
    const name = runName(parked.out);
    const [repository = ""] = await readdir(place.state);
    const mailbox = new FolderMailbox(path.join(place.state, repository, "runs", name, "commands"));
    assert.ok(
      "answer" in (await mailbox.send({ type: "cancel", reason: "not now" })),
      "as a cancel that was killed",
    );
    const { code, out, err } = await here.skein("resume", name);
    assert.equal(code, 1, out + err);
    assert.match(out, /^ {2}cancelled: not now$/m);
    assert.equal(server.calls.length, 1);
  });

  it("keeps nobody from cancelling the run at once, without the key", LIMIT, async () => {
    await using place = await makePlace();
    const answer: Answerer = ({ wire }) => quotaExhausted(wire, { resetAt: Date.now() + 13 * HOUR });
    await using server = await startModelServer({ answer });
    const parked = await run(place.with({ env: { MY_KEY: "k" } }), server);
    assert.equal(parked.code, 75, parked.out + parked.err);
    const { code, out, err } = await place.skein("cancel", runName(parked.out), "t", "--reason", "not now");
    assert.equal(code, 0, out + err);
    assert.match(out, /^ {2}cancelled: not now$/m);
    assert.equal(server.calls.length, 1);
  });

  it("is waited for if it is back soon, and no attempt is spent", LIMIT, async () => {
    await using place = await makePlace();
    let isFirst = true;
    const answer: Answerer = (call, signal) => {
      if (!isFirst) return works(call, signal);
      isFirst = false;
      return quotaExhausted(call.wire, { resetAt: Date.now() + 1_000 });
    };
    await using server = await startModelServer({ answer });
    const { code, out, err } = await run(place.with({ env: { MY_KEY: "k" } }), server);
    assert.equal(code, 0, out + err);
    assert.match(out, /^\S+ {2}mine .* is available again$/m);
    assert.doesNotMatch(out, /\(attempt 2\)/);
  });

  it("ends the run at once where quota.wait is 0", LIMIT, async () => {
    await using place = await makePlace();
    const answer: Answerer = ({ wire }) => quotaExhausted(wire, { resetAt: Date.now() + 60_000 });
    await using server = await startModelServer({ answer });
    const { code, err } = await run(place.with({ env: { MY_KEY: "k" } }), server, "--set", "quota.wait=0");
    assert.equal(code, 75, err);
  });
});

describe("a price that is not known", () => {
  it("is refused with a budget in money alone, and said with one in tokens, too", LIMIT, async () => {
    await using place = await makePlace();
    await using server = await startModelServer({ answer: works });
    const here = place.with({ env: { MY_KEY: "k" } });
    const refused = await run(here, server, "--set", "budget.dollars=5");
    assert.equal(refused.code, 3, refused.out + refused.err);
    assert.match(
      refused.err,
      /^skein: the price of mine\/m is not known, so budget\.dollars could not be enforced$/m,
    );
    assert.match(refused.err, /^try: set budget\.tokens as well, or set the price: prices: /m);
    assert.equal(server.calls.length, 0);
    const told = await run(here, server, "--set", "budget.dollars=5", "--set", "budget.tokens=1000000");
    assert.equal(told.code, 0, told.out + told.err);
    assert.match(told.out, /^notice: the price of mine\/m is not known: budget\.dollars does not limit it/m);
    assert.doesNotMatch(told.out, /fallback/);
    assert.match(told.out, /^ {2}budget left: [\d,]+ of 1,000,000 tokens, /m);
  });

  it(
    "is no way around a budget in money for a role that a file of the repository describes",
    LIMIT,
    async () => {
      const role =
        "---\nname: filer\ndescription: d\nkeywords: write, file\nmodel: ollama/unpriced\n---\nYou file.\n";
      await using place = await makePlace({
        files: { "README.md": "# here\n", ".skein/agents/filer.md": role },
        isTrusted: true,
      });
      await using server = await startModelServer({ answer: works });
      const prices = "prices={mine/m: {input: 100, output: 1000}}";
      const more = ["--set", "budget.dollars=500", "--set", prices, "--set", "retry.first=1ms"];
      const { code, out, err } = await run(place.with({ env: { MY_KEY: "k" } }), server, ...more);
      assert.equal(code, 0, out + err);
      assert.match(server.calls[0]!.system, /You file\./);
      assert.equal(server.calls[0]!.model, "m");
    },
  );

  it("can be said, and is then counted to the token", LIMIT, async () => {
    await using place = await makePlace();
    await using server = await startModelServer({ answer: works });
    const prices = "prices={mine/m: {input: 100, output: 1000}}";
    const here = place.with({ env: { MY_KEY: "k" } });
    const { code, out, err } = await run(here, server, "--set", "budget.dollars=500", "--set", prices);
    assert.equal(code, 0, out + err);
    const { input, output } = counted(server);
    const money = ((input * 100 + output * 1_000) / 1e6).toFixed(2);
    assert.match(
      out,
      new RegExp(`^  cost: ${(input + output).toLocaleString("en")} tokens, \\$${money}$`, "m"),
    );
  });
});

describe("a fallback whose key is missing", () => {
  it("is left out, and said: it would be waited for in vain", LIMIT, async () => {
    await using place = await makePlace();
    const answer: Answerer = ({ wire }) => quotaExhausted(wire, { resetAt: Date.now() + 60_000 });
    await using server = await startModelServer({ answer });
    const here = place.with({ env: { MY_KEY: "k" } });
    const more = ["--set", "fallback=openai/gpt-5", "--set", "quota.wait=0"];
    const { code, out, err } = await run(here, server, ...more);
    assert.match(out, /^notice: the fallback openai\/gpt-5 is left out: .*OPENAI_API_KEY is not set$/m);
    assert.equal(code, 75, out + err);
  });
});

describe("a model server on this machine", () => {
  it("is found, said, used, and kept for when the run is resumed", LIMIT, async () => {
    await using place = await makePlace();
    await using server = await startModelServer({ answer: works, models: ["coder"] });
    const here = place.with({ env: { OLLAMA_HOST: server.url, SKEIN_LOOK_FOR: "servers" } });
    const { code, out, err } = await here.skein("run", "write a file", "--planner", "none");
    assert.equal(code, 0, out + err);
    assert.match(
      out,
      /^agent +the built-in agent on ollama\/coder at http:\/\/127\.0\.0\.1:\d+\/v1; no planner.*\(found: ollama answers at /m,
    );
    assert.ok(server.calls.length >= 2);
    assert.equal(server.calls[0]?.model, "coder");
    const [file = ""] = await Array.fromAsync(glob(`**/runs/${runName(out)}/run.json`, { cwd: place.state }));
    const record = JSON.parse(await readFile(path.join(place.state, file), "utf8")) as {
      settings: { agent: unknown };
    };
    const baseUrl = `${server.url}/v1`;
    assert.deepEqual(record.settings.agent, { kind: "model", provider: "ollama", model: "coder", baseUrl });
  });
});
