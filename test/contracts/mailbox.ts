/** The contract suite of mailboxes, which each adapter passes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hasFailed } from "../../src/core/result.ts";
import type { Letter, Mailbox, MailboxMessage, Received } from "../../src/ports/mailbox.ts";

const soon = () => AbortSignal.timeout(10_000);
const steer = (message: string): MailboxMessage => ({ type: "steer", message });

async function sent(mailbox: Mailbox, command: MailboxMessage): Promise<Letter> {
  const letter = await mailbox.send(command);
  assert.ok(!hasFailed(letter));
  return letter;
}

async function take(mailbox: Mailbox, count: number): Promise<readonly Received[]> {
  const stop = new AbortController();
  const got: Received[] = [];
  for await (const received of mailbox.receive(stop.signal)) {
    got.push(received);
    if (got.length === count) stop.abort();
  }
  return got;
}

/** The function that `make` gives opens the same mailbox again at each call, as another process would. */
export function mailboxContract(name: string, make: () => () => Mailbox): void {
  describe(`the mailbox ${name}`, { timeout: 20_000 }, () => {
    it("hands over what was sent before and after somebody listens, in order", async () => {
      const open = make();
      await sent(open(), steer("one"));
      const taken = take(open(), 3);
      await sent(open(), steer("two"));
      await sent(open(), steer("three"));
      assert.deepEqual(
        (await taken).map(({ command }) => command),
        [steer("one"), steer("two"), steer("three")],
      );
    });

    it("brings the answer back to who sent it", async () => {
      const open = make();
      const [first, second] = [await sent(open(), { type: "pause" }), await sent(open(), steer("x"))];
      const [one, two] = await take(open(), 2);
      await two!.answer({ is: "refused", reason: "no" });
      await one!.answer({ is: "heard" });
      assert.deepEqual(await first.answer(soon()), { is: "heard" });
      assert.deepEqual(await second.answer(soon()), { is: "refused", reason: "no" });
    });

    it("hands everything over once", async () => {
      const open = make();
      await sent(open(), steer("one"));
      await take(open(), 1);
      await sent(open(), steer("two"));
      const [next] = await take(open(), 1);
      assert.deepEqual(next?.command, steer("two"));
    });

    it("lets the sender take back what nobody has taken, and nothing else", async () => {
      const open = make();
      const first = await sent(open(), steer("one"));
      assert.equal(await first.withdraw(), true);
      const second = await sent(open(), steer("two"));
      const [taken] = await take(open(), 1);
      assert.deepEqual(taken?.command, steer("two"));
      assert.equal(await second.withdraw(), false);
    });

    it("gives up the wait for an answer when it is told to", async () => {
      const letter = await sent(make()(), { type: "resume" });
      assert.equal(await letter.answer(AbortSignal.abort()), undefined);
    });

    it("keeps every kind of command as it is", async () => {
      const open = make();
      const commands: MailboxMessage[] = [
        { type: "pause" },
        { type: "resume" },
        steer("é\n\u0000"),
        { type: "cancel" },
        { type: "cancel", task: "t.1" as never, reason: "why" },
      ];
      for (const command of commands) await sent(open(), command);
      const taken = await take(open(), commands.length);
      assert.deepEqual(
        taken.map(({ command }) => command),
        commands,
      );
    });
  });
}
