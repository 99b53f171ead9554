/** What does the run want of a person? First on the page, and loud. */
import { useState } from "preact/hooks";
import type { TaskId } from "../../core/task.ts";
import { calmLabel, endLabel, type Need, needsOf } from "../../core/view/needs.ts";
import type { QuestionView } from "../../core/view/view-people.ts";
import { command } from "./api.ts";
import { duration, harmless, line } from "./format.ts";
import type { PageParts } from "./parts.ts";

export function Needs({ run, view, word, live }: PageParts) {
  const needs = needsOf(view, word);
  const calm = calmLabel(view, word) || (live.delivery && endLabel(view, live.delivery));
  if (needs.length === 0) return calm ? <p class="calm">{line(calm, 300)}</p> : null;
  return (
    <section class="needs" role="alert" aria-label="Needs you">
      <h2>Needs you</h2>
      {needs.map((need) => (
        <NeedPart key={keyOf(need)} run={run} need={need} />
      ))}
    </section>
  );
}

/** What a person types stays where it is, whatever else is asked for meanwhile. */
const keyOf = (need: Need): string =>
  need.is === "question"
    ? need.question.question
    : need.is === "gate-change"
      ? need.change.task
      : need.is === "account"
        ? need.account.account
        : need.is;

function NeedPart({ run, need }: { readonly run: string; readonly need: Need }) {
  switch (need.is) {
    case "plan":
      return <Approval run={run} text="The plan waits for your approval." which={{}} />;
    case "gate-change": {
      const { task, name, flags } = need.change;
      const text = `${name} changes what the gate, CI or hooks run, or what steers agents: ${flags.join("; ")}`;
      return <Approval run={run} text={text} which={{ task }} />;
    }
    case "question":
      return <Question run={run} {...need.question} />;
    case "account": {
      const { account, reason, next = "" } = need.account;
      return <Repair text={`The key of ${account} was refused: ${reason} ${next}`} />;
    }
    case "setup": {
      const { message, next = "", agent } = need.failure;
      return (
        <Repair
          text={`${agent === undefined ? "The gate or a workspace cannot be prepared: " : ""}${message} ${next}`}
        />
      );
    }
    case "machine":
      return <p>{harmless(need.text)}</p>;
  }
}

const Repair = ({ text }: { readonly text: string }) => <p>{harmless(text)} Then press Resume.</p>;

type ApprovalProps = {
  readonly run: string;
  readonly text: string;
  readonly which: { readonly task?: TaskId };
};

function Approval({ run, text, which }: ApprovalProps) {
  const [reason, setReason] = useState("");
  const [note, setNote] = useState<string | undefined>();
  const send = async (body: Record<string, unknown>) => setNote((await command(run, body)) ?? "Sent.");
  return (
    <div class="ask">
      <p>{harmless(text)}</p>
      <div class="row wrap">
        <button type="button" class="good" onClick={() => void send({ type: "approve", ...which })}>
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
          onClick={() => void send({ type: "decline", reason, ...which })}
        >
          Decline
        </button>
        <output>{note && harmless(note)}</output>
      </div>
    </div>
  );
}

type QuestionProps = QuestionView & { readonly run: string };

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
          aria-label={`Answer to ${line(name)}`}
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
