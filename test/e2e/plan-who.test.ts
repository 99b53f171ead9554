/** Tests which agent makes the plan: the one that is named, configured, or found and agreed to, over HTTP. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { newFolder } from "../support/folders.ts";
import { type ModelServer, type Reply, startModelServer } from "../support/model-server/model-server.ts";
import { ask } from "../support/plan-asked.ts";
import { makeRepository, type TestRepository } from "../support/repositories.ts";
import { agree, callSkein } from "./cli-place.ts";
import { GOOD } from "./plan-by-agent-place.ts";

const KEY = "a-key-that-nobody-may-see-4711";
const REQUEST = "Add the commands a and b.\n\nDo not touch src/cli.ts!";
const COVERED = { ...GOOD, assumptions: ["Do not touch src/cli.ts!"] };
const plan: Reply = { tools: [{ name: "plan", input: COVERED }], usage: { input: 1_000, output: 100 } };
const planIn = (out: string): { readonly planner: string } => JSON.parse(out);

type Place = AsyncDisposable & {
  readonly server: ModelServer;
  readonly repository: TestRepository;
  readonly env: Readonly<Record<string, string>>;
};

/** `yaml`: more lines for skein.yaml, after the agent; undefined: there is no skein.yaml. */
async function placeWith(yaml?: string): Promise<Place> {
  const server = await startModelServer({ answer: () => plan });
  const agent = `agent: { kind: model, provider: tests, model: m, baseUrl: "${server.url}/v1", key: MODEL_KEY, speaks: openai }\n`;
  const files = {
    "src/cli.ts": "export {};\n",
    ...(yaml === undefined ? {} : { "skein.yaml": agent + yaml }),
  };
  const repository = await makeRepository({ files });
  const env = { MODEL_KEY: KEY, SKEIN_STATE_DIR: newFolder(), HOME: newFolder() };
  await agree({ skein: (...args) => callSkein(args, repository.folder, env) });
  return {
    server,
    repository,
    env,
    [Symbol.asyncDispose]: async () => {
      await repository[Symbol.asyncDispose]();
      await server.close();
    },
  };
}

const asked = ({ repository, env }: Place) => ({ folder: repository.folder, request: REQUEST, env });

describe("an agent that is configured", () => {
  it("makes the plan without a flag, and hears the request word for word", async () => {
    await using place = await placeWith("");
    const { code, out, err } = await ask({ ...asked(place), json: true });
    assert.deepEqual([code, planIn(out).planner], [0, "agent tests/m"], err);
    const { text } = place.server.calls[0]!.messages[0]!;
    assert.ok(text.includes(REQUEST));
    assert.doesNotMatch(text, /draft|"subject"/);
  });

  it("is not called with --by rules, nor where planner: none is configured", async () => {
    await using place = await placeWith("planner: none\n");
    for (const options of [{ by: "rules" }, {}]) {
      const { out, err } = await ask({ ...asked(place), json: true }, options);
      assert.deepEqual([planIn(out).planner, err], ["rules", ""]);
    }
    assert.equal(place.server.calls.length, 0);
  });

  it("is left for the rules where it cannot be started, or its budget is too small, and why is said", async () => {
    await using place = await placeWith("budget: { tokens: 10 }\n");
    const poor = await ask(asked(place));
    assert.match(poor.err, /notice: this plan was made by rules: it would cost more than the budget/);
    const keyless = await ask({ ...asked(place), json: true, env: { ...place.env, MODEL_KEY: "" } });
    assert.deepEqual([keyless.code, planIn(keyless.out).planner], [0, "rules"]);
    assert.match(JSON.parse(keyless.err).notice.message, /^this plan was made by rules: .*MODEL_KEY/);
    assert.equal(place.server.calls.length, 0);
  });
});

describe("an agent that was only found", () => {
  const withServer = (place: Place) => ({
    ...asked(place),
    env: { ...place.env, OLLAMA_HOST: new URL(place.server.url).host },
  });

  it("is named with what it costs at most, and asked with a yes", async () => {
    await using place = await placeWith();
    const { code, out, err } = await ask({ ...withServer(place), isTerminal: true, typed: ["y"] });
    assert.equal(code, 0, err);
    assert.match(
      err.replace(/\s+/g, " "),
      /^ollama answers at \S+ Ask ollama\/test-model for the plan\? At most 3 turns and 600,000 tokens \(.*\)\. \[y\/N/,
    );
    assert.match(out, /Add a\b/);
    assert.equal(place.server.calls.length, 1);
  });

  it("is not asked without a yes, without a terminal, with --no-ask or --json; and that is said", async () => {
    await using place = await placeWith();
    const keyed = { ...asked(place), env: { ...place.env, ANTHROPIC_API_KEY: "k" } };
    for (const typed of [["n"], [""], []]) {
      const { err } = await ask({ ...keyed, isTerminal: true, typed });
      assert.match(err, /At most\s+3 turns and 600,000 tokens\s+\(\$\d+\.\d\d\)/);
      assert.doesNotMatch(err, /asking/);
    }
    const silent = await ask({ ...keyed, isTerminal: true }, { ask: false });
    for (const { err } of [await ask(keyed), silent]) {
      const said = err.replace(/\s+/g, " ");
      assert.match(
        said,
        /notice: this plan was made by rules: ANTHROPIC_API_KEY is set, but anthropic\/\S+ was not asked/,
      );
      assert.match(said, /try: name it: --agent anthropic\//);
    }
    const json = await ask({ ...keyed, json: true });
    assert.equal(planIn(json.out).planner, "rules");
    assert.equal(JSON.parse(json.err).notice.kind, "agent-not-asked");
    const offline = await ask(keyed, { by: "rules" });
    assert.equal(offline.err, "");
  });
});
