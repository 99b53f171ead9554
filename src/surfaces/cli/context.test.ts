/** Tests that refusals show no secrets. */

import assert from "node:assert/strict";
import { it } from "node:test";
import { type Context, refuse } from "./context.ts";
import { processInput } from "./input.ts";

const KEY = `sk-ant-api03-${"x1Y2".repeat(8)}`;

it("shows no key that was given where a name belongs", () => {
  for (const json of [false, true]) {
    let said = "";
    const write = (text: string) => {
      said += text;
    };
    const err = { hasColours: false, write };
    const context: Context = {
      out: err,
      err,
      json,
      env: {},
      folder: "/",
      command: "skein",
      now: () => 0,
      input: processInput,
    };
    const why = {
      message: `${KEY} was not found on the PATH`,
      next: `chmod +x ${KEY}`,
      lines: [`prices ${KEY} is`],
    };
    assert.equal(refuse(context, 4, { kind: "agent-failed", ...why }), 4);
    assert.doesNotMatch(said, /x1Y2/);
    assert.match(said, /was not found on the PATH[\s\S]*chmod/);
  }
});
