/** What does the run want of a person? First on the page, and loud. */
import { useState } from "preact/hooks";
import { command } from "./api.ts";
import { duration, harmless, line } from "./format.ts";
import type { PageParts } from "./parts.ts";

export function Needs({ run, view }: PageParts) {
  const proposals = view.gateChanges.filter(({ is }) => is === "proposed");
  const toPerson = view.questions.filter((question) => question.with === undefined);
  const refused = view.accounts.filter(({ is }) => is === "refused");
  const isOver = view.times.closedAt !== undefined;
  const count =
    proposals.length +
    toPerson.length +
    refused.length +
    (view.setup ? 1 : 0) +
    (view.is === "proposed" ? 1 : 0);
  if (isOver || count === 0) return null;
  return (
    <section class="needs" role="alert" aria-label="Needs you">
      <h2>Needs you</h2>
      {view.is === "proposed" && (
        <Approval
          run={run}
          text="The plan waits for your approval."
          approve={{ type: "approve" }}
          decline={{ type: "decline" }}
        />
      )}
      {proposals.map(({ task, name, flags }) => (
        <Approval
          key={task}
          run={run}
          text={`${name} changes what the gate runs or what steers agents: ${flags.join("; ")}`}
          approve={{ type: "approve", task }}
          decline={{ type: "decline", task }}
        />
      ))}
      {toPerson.map((question) => (
        <Question key={question.question} run={run} {...question} />
      ))}
      {refused.map(({ account, reason, next }) => (
        <p>
          The key of {harmless(account)} was refused: {harmless(reason)} {next && harmless(next)} Then press
          Resume.
        </p>
      ))}
      {view.setup && (
        <p>
          The gate or a workspace cannot be prepared: {harmless(view.setup.message)}{" "}
          {view.setup.next && harmless(view.setup.next)} Then press Resume.
        </p>
      )}
    </section>
  );
}

type ApprovalProps = {
  readonly run: string;
  readonly text: string;
  readonly approve: Record<string, unknown>;
  readonly decline: Record<string, unknown>;
};

function Approval({ run, text, approve, decline }: ApprovalProps) {
  const [reason, setReason] = useState("");
  const [note, setNote] = useState<string | undefined>();
  const send = async (body: Record<string, unknown>) => setNote((await command(run, body)) ?? "Sent.");
  return (
    <div class="ask">
      <p>{harmless(text)}</p>
      <div class="row wrap">
        <button type="button" class="good" onClick={() => void send(approve)}>
          Approve
        </button>
        <input
          aria-label="Reason to decline"
          placeholder="Reason"
          value={reason}
          onInput={(e) => setReason(e.currentTarget.value)}
        />
        <button
          type="button"
          disabled={reason.trim() === ""}
          onClick={() => void send({ ...decline, reason })}
        >
          Decline
        </button>
        <output>{note && harmless(note)}</output>
      </div>
    </div>
  );
}

type QuestionProps = PageParts["view"]["questions"][number] & { readonly run: string };

function Question({ run, question, name, text, until, default: fallback }: QuestionProps) {
  const [said, setSaid] = useState(fallback ?? "");
  const [note, setNote] = useState<string | undefined>();
  return (
    <form
      class="ask"
      onSubmit={(event) => {
        event.preventDefault();
        void command(run, { type: "answer", question, text: said }).then((why) =>
          setNote(why ?? "Answered."),
        );
      }}
    >
      <p>
        <strong>{line(name)}</strong> asks: <span class="pre">{harmless(text)}</span>
      </p>
      {fallback !== undefined && (
        <p class="quiet">
          Without an answer in {duration(until - Date.now())} the run takes: {line(fallback)}
        </p>
      )}
      <div class="row wrap">
        <input
          aria-label={`Answer to ${name}`}
          value={said}
          onInput={(event) => setSaid(event.currentTarget.value)}
        />
        <button type="submit" disabled={said.trim() === ""}>
          Answer
        </button>
        <output>{note && harmless(note)}</output>
      </div>
    </form>
  );
}
