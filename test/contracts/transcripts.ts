/** The contract suite of transcripts: they keep output within bounds, without secrets, and never fail a job. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Transcripts } from "../../src/ports/transcripts.ts";

export const SECRET = "a-secret-value";
export const MAX_BYTES = 10_000;

/** `read` gives what a person would see under a name; `isBroken` asks for a stage where nothing can be written. */
export type TranscriptStage = { readonly transcripts: Transcripts; read(name: string): Promise<string> };

export function transcriptsContract(
  name: string,
  onStage: (body: (stage: TranscriptStage) => Promise<void>, isBroken?: boolean) => Promise<void>,
): void {
  describe(`transcripts ${name}`, () => {
    it("keep what was written, in order", () =>
      onStage(async ({ transcripts, read }) => {
        const transcript = transcripts.open("work:1#1");
        for (const text of ["one\n", "", "two ü\n", "three"]) transcript.write(text);
        await transcript.close();
        assert.equal(await read("work:1#1"), "one\ntwo ü\nthree");
      }));

    it("keep jobs apart, whatever their names are", () =>
      onStage(async ({ transcripts, read }) => {
        const names = [
          "a/b",
          "a_b",
          "a:b",
          "../../a",
          ".",
          "..",
          "x".repeat(500),
          `${"x".repeat(500)}y`,
          "ü",
          "",
        ];
        const open = names.map((each) => [each, transcripts.open(each)] as const);
        for (const [each, transcript] of open) transcript.write(`of ${each}`);
        for (const [each, transcript] of open) {
          await transcript.close();
          assert.equal(await read(each), `of ${each}`);
        }
      }));

    it("begin anew for another try", () =>
      onStage(async ({ transcripts, read }) => {
        const first = transcripts.open("a");
        first.write("x".repeat(MAX_BYTES * 2));
        const second = transcripts.open("a");
        second.write("second");
        await second.close();
        assert.equal(await read("a"), "second");
      }));

    it("leave out the middle of a long one, and say so once", () =>
      onStage(async ({ transcripts, read }) => {
        const transcript = transcripts.open("a");
        const lines = Array.from({ length: 20_000 }, (_, number) => `line ${number} €\n`);
        for (const line of lines) transcript.write(line);
        await transcript.close();
        const text = await read("a");
        const notice = /\n… (\d+) bytes left out …\n/;
        const [head, leftOut, tail] = text.split(notice) as [string, string, string];
        const all = lines.join("");
        assert.ok(all.startsWith(head) && head.length > 1_000);
        assert.ok(all.endsWith(tail) && tail.length > 1_000);
        assert.equal(Buffer.byteLength(head + tail) + Number(leftOut), Buffer.byteLength(all));
        assert.ok(Buffer.byteLength(text) <= MAX_BYTES + 100, `${Buffer.byteLength(text)}`);
      }));

    it("cut no character in two", () =>
      onStage(async ({ transcripts, read }) => {
        const transcript = transcripts.open("a");
        for (let count = 0; count < MAX_BYTES; count += 1) transcript.write("€ü€ü€\n");
        await transcript.close();
        assert.doesNotMatch(await read("a"), /\ufffd/);
      }));

    it("keep all of one that is just within the bound", () =>
      onStage(async ({ transcripts, read }) => {
        for (const bytes of [MAX_BYTES / 2, MAX_BYTES / 2 + 1, (MAX_BYTES / 4) * 3, MAX_BYTES]) {
          const transcript = transcripts.open("a");
          const text = "0123456789\n".repeat(bytes).slice(0, bytes);
          transcript.write(text);
          await transcript.close();
          assert.equal(await read("a"), text, `${bytes}`);
        }
      }));

    it("hold no secret, also if it comes in two pieces", () =>
      onStage(async ({ transcripts, read }) => {
        const transcript = transcripts.open("a");
        transcript.write(`the ${SECRET.slice(0, 5)}`);
        transcript.write(`${SECRET.slice(5)} and sk-abcdefghij`);
        transcript.write("klmnopqrstuvwxyz");
        await transcript.close();
        assert.equal(await read("a"), "the [redacted] and [redacted]");
      }));

    it("take nothing more after they were closed, and can be closed again", () =>
      onStage(async ({ transcripts, read }) => {
        const transcript = transcripts.open("a");
        transcript.write("a");
        await transcript.close();
        transcript.write("b");
        await transcript.close();
        assert.equal(await read("a"), "a");
      }));

    it("do not mind where nothing can be written", () =>
      onStage(async ({ transcripts }) => {
        const transcript = transcripts.open("a");
        transcript.write("x".repeat(MAX_BYTES * 3));
        await transcript.close();
      }, true));
  });
}
