/** Shows what the run needs from a person: one line each at the top of the page; a click opens it with its controls. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { TaskId } from "../../core/task.ts";
import {
  calmLabel,
  endLabel,
  type Need,
  needKey,
  needsOf,
  type WayToDeliver,
} from "../../core/view/needs.ts";
import { proposedPlan } from "../../core/view/proposed-plan.ts";
import type { QuestionView } from "../../core/view/view-people.ts";
import { command } from "./api.ts";
import { CopyButton } from "./copy.tsx";
import { duration, harmless, line, plural } from "./format.ts";
import type { PageParts } from "./parts.ts";

export function Needs(parts: PageParts) {
  const { view, word, live } = parts;
  const needs = needsOf(view, word);
  if (needs.length > 0)
    return (
      <section class="needs" role="alert" aria-label="Needs you">
        <h2>Needs you{needs.length > 1 && ` (${needs.length})`}</h2>
        {needs.map((need) => (
          <NeedPart key={needKey(need)} {...parts} need={need} />
        ))}
      </section>
    );
  const calm = calmLabel(view, word);
  if (calm) return <p class="calm">{line(calm, 300)}</p>;
  const end = live.delivery && endLabel(view, live.delivery);
  return end ? <End text={end} run={parts.run} way={live.delivery!} isDone={view.is === "done"} /> : null;
}

type EndProps = {
  readonly run: string;
  readonly text: string;
  readonly way: WayToDeliver;
  readonly isDone: boolean;
};

/** The next command can be copied; a done run that is not known to fail can be delivered. */
function End({ run, text, way: { command: base, into }, isDone }: EndProps) {
  const [note, setNote] = useState<string | undefined>();
  const at = text.indexOf(base);
  if (at < 0) return <p class="calm">{line(text, 300)}</p>;
  const [says, next] = [text.slice(0, at), text.slice(at)];
  const deliver = async () => {
    if (!confirm(`Move ${into} to what landed?`)) return;
    setNote("Delivering…");
    setNote(await command(run, { type: "deliver" }));
  };
  return (
    <p class="calm">
      {line(says, 300)} <code>{line(next, 200)}</code> <CopyButton text={next} />{" "}
      {isDone && into && (
        <button type="button" onClick={() => void deliver()}>
          Deliver to {line(into, 60)}
        </button>
      )}
      <output>{note && harmless(note)}</output>
    </p>
  );
}

function NeedPart(parts: PageParts & { readonly need: Need }) {
  const { run, need } = parts;
  switch (need.is) {
    case "plan":
      return <Plan {...parts} />;
    case "gate-change": {
      const { task, name, flags } = need.change;
      return (
        <OneNeed kind="Approve to land" about={`${name} changes what the gate runs or what steers agents`}>
          <ul>
            {flags.map((flag) => (
              <li>{harmless(flag)}</li>
            ))}
          </ul>
          <Approval run={run} which={{ task }} />
        </OneNeed>
      );
    }
    case "question":
      return <Question run={run} {...need.question} />;
    case "account": {
      const { account, reason, next = "" } = need.account;
      const text = `The key of ${account} was refused: ${reason} ${next}`;
      return <Repair kind="Key refused" about={account} text={text} />;
    }
    case "setup": {
      const { message, next = "", agent } = need.failure;
      const what = agent === undefined ? "The gate or a workspace cannot be prepared: " : "";
      const kind = agent === undefined ? "Set-up failed" : "Agent cannot be used";
      return <Repair kind={kind} about={message} text={`${what}${message} ${next}`} />;
    }
    case "machine":
      return (
        <OneNeed kind="No machine" about={need.text}>
          <p>{harmless(need.text)}</p>
        </OneNeed>
      );
  }
}

type OneNeedProps = {
  readonly kind: string;
  readonly about: string;
  readonly children: ComponentChildren;
};

/** The line is cut by its width. */
const OneNeed = ({ kind, about, children }: OneNeedProps) => (
  <details class="need">
    <summary>
      <span>
        <b>{kind}</b>: {line(about, 300)}
      </span>
    </summary>
    {children}
  </details>
);

type RepairProps = { readonly kind: string; readonly about: string; readonly text: string };

const Repair = ({ kind, about, text }: RepairProps) => (
  <OneNeed kind={kind} about={about}>
    <p class="pre">{harmless(text)} Then press Resume.</p>
  </OneNeed>
);

/** Everything that the person approves: the tasks, their files, and their acceptance. */
function Plan({ run, seen }: PageParts) {
  const tasks = proposedPlan(seen.state);
  return (
    <OneNeed
      kind="Approve the plan"
      about={`${plural(tasks.length, "task")}: ${tasks.map(({ name }) => name).join(", ")}`}
    >
      <Approval run={run} which={{}} />
      <ol class="plan">
        {tasks.map(({ task, name, description, files, acceptance, after }) => (
          <li key={task}>
            <strong>{line(name)}</strong>: <span class="pre">{harmless(description)}</span>
            <dl>
              <dt>Files</dt>
              <dd>{line(files, 500)}</dd>
              {acceptance !== "" && (
                <>
                  <dt>Accepted if</dt>
                  <dd class="pre">{harmless(acceptance)}</dd>
                </>
              )}
              {after.length > 0 && (
                <>
                  <dt>After</dt>
                  <dd>{line(after.join(", "), 500)}</dd>
                </>
              )}
            </dl>
          </li>
        ))}
      </ol>
    </OneNeed>
  );
}

type ApprovalProps = { readonly run: string; readonly which: { readonly task?: TaskId } };

function Approval({ run, which }: ApprovalProps) {
  const [reason, setReason] = useState("");
  const [note, setNote] = useState<string | undefined>();
  const send = async (body: Record<string, unknown>) => setNote((await command(run, body)) ?? "Sent.");
  return (
    <div class="row wrap">
      <button type="button" class="good" onClick={() => void send({ type: "approve", ...which })}>
        Approve
      </button>
      <input
        aria-label="Reason to decline"
        placeholder="Reason to decline"
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
  );
}

type QuestionProps = QuestionView & { readonly run: string };

function Question({ run, question, name, text, until, default: fallback }: QuestionProps) {
  const [said, setSaid] = useState("");
  const [note, setNote] = useState<string | undefined>();
  const left = duration(until - Date.now());
  const otherwise = fallback === undefined ? "no default" : `default: ${line(fallback, 60)}`;
  // An empty answer takes the default at once.
  const answer = said.trim() === "" ? (fallback ?? "") : said;
  return (
    <details class="need">
      <summary>
        <span>
          <b>
            Question<span class="wide"> of {line(name, 60)}</span>
          </b>
          : {line(text, 300)}
        </span>
        <span class="quiet still">
          <span class="wide">{otherwise}; </span>
          {left} left
        </span>
      </summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void command(run, { type: "answer", question, text: answer }).then((why) =>
            setNote(why ?? "Answered."),
          );
        }}
      >
        <p class="pre">{harmless(text)}</p>
        <p class="quiet">
          {line(name, 60)} asks.{" "}
          {fallback === undefined
            ? `Without an answer in ${left} the worker goes on by itself.`
            : `Without an answer in ${left} the run takes: ${line(fallback, 300)}`}
        </p>
        <div class="row wrap">
          <input
            aria-label={`Answer to ${line(name)}`}
            placeholder={line(fallback ?? "Your answer", 100)}
            value={said}
            onInput={(event) => setSaid(event.currentTarget.value)}
          />
          <button type="submit" disabled={answer.trim() === ""}>
            {said.trim() === "" && fallback !== undefined ? "Take the default" : "Answer"}
          </button>
          <output>{note && harmless(note)}</output>
        </div>
      </form>
    </details>
  );
}
