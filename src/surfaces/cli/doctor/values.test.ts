/** Tests the settings that `skein doctor` shows, without secrets. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readConfig } from "../../../config/index.ts";
import { redactorOf, settingsOf, valueText, withoutSecretWords } from "./values.ts";

describe("the settings", () => {
  it("come with their value as written, and where they come from", () => {
    const text = "workers: 3\nbudget:\n  dollars: 20\n";
    const env = { SKEIN_TIMEOUT_WORK: "90m" };
    const flags = { agent: ["./a.sh", "--token", "abc"] };
    const read = readConfig({ file: { name: "skein.yaml", text }, env, sets: ["deliver=true"], flags });
    assert.ok("config" in read, JSON.stringify(read));
    const settings = settingsOf(read);
    const of = (wanted: string) => settings.find(({ key }) => key === wanted)!;
    assert.deepEqual([of("workers").value, of("workers").origin], [3, "skein.yaml:1"]);
    assert.deepEqual([of("budget.dollars").value, of("budget.dollars").origin], [20, "skein.yaml:3"]);
    assert.deepEqual([of("timeout.work").value, of("timeout.work").origin], ["90m", "SKEIN_TIMEOUT_WORK"]);
    assert.deepEqual([of("deliver").value, of("deliver").origin], [true, "--set"]);
    assert.deepEqual(of("gateOutput"), {
      key: "gateOutput",
      value: "8MB",
      origin: "default",
      variable: "SKEIN_GATE_OUTPUT",
    });
    assert.deepEqual([of("planner").value, of("planner").origin], [null, "default"]);
    assert.equal(valueText(of("agent").value), '["./a.sh","--token","[redacted]"]');
    assert.equal(valueText(of("planner").value), "not set");
  });

  it("show a model wherever it was named, in one word if that says all", () => {
    const sources = [
      { flags: { model: "openai/gpt-5" } },
      { env: { SKEIN_MODEL: "openai/gpt-5" } },
      { file: { name: "skein.yaml", text: "model: openai/gpt-5\n" } },
    ];
    for (const source of sources) {
      const read = readConfig({ env: {}, sets: [], flags: {}, ...source });
      assert.ok("config" in read, JSON.stringify(read));
      const set = settingsOf(read).filter(({ origin }) => origin !== "default");
      assert.deepEqual(
        set.map(({ key, value }) => [key, valueText(value)]),
        [
          ["agent", "openai/gpt-5"],
          ["model", "openai/gpt-5"],
        ],
      );
    }
    const own = { kind: "model", provider: "ours", model: "big", baseUrl: "http://127.0.0.1:1/v1" };
    assert.match(valueText(own), /"baseUrl":"http/);
  });

  it("show no word that follows a flag for a secret, and the others as they are", () => {
    assert.deepEqual(
      withoutSecretWords({ command: ["a", "--api-key", "x", "--token=y", "--keyboard", "de", "-k", "v"] }),
      { command: ["a", "--api-key", "[redacted]", "--token=[redacted]", "--keyboard", "de", "-k", "v"] },
    );
  });

  it("show no value of a variable that is secret or handed on, and keep numbers", () => {
    const env = { MY_TOKEN: "12345678", MODEL_ACCESS: "open-sesame", HOME: "/home/somebody" };
    const redact = redactorOf(env, ["MODEL_ACCESS"]);
    assert.deepEqual(redact({ a: ["x 12345678 y", "open-sesame"], free: 12345678, home: "/home/somebody" }), {
      a: ["x [redacted] y", "[redacted]"],
      free: 12345678,
      home: "/home/somebody",
    });
  });
});
