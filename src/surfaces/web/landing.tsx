/** What waits to land, what has landed and by which proof, and what failed on the way. */

import { useMemo } from "preact/hooks";
import { nameOf } from "../../core/log/state.ts";
import {
  phaseLabel,
  placeLabel,
  proofLabel,
  runningIn,
  trainLabel,
  waitingIn,
} from "../../core/view/labels.ts";
import { failedAttempts } from "../../core/view/task-facts.ts";
import { failedAttemptViews, type LandingView, landingView } from "../../core/view/view.ts";
import { duration, harmless, line, plural, time } from "./format.ts";
import { useLater } from "./later.ts";
import { useMore } from "./more.tsx";
import { addressOf, type PageParts } from "./parts.ts";
import { Word } from "./word.tsx";

const ROWS = 50;

export function Landing({ run, view, seen, word }: PageParts) {
  const { state, story } = seen;
  const { phase } = state.landing;
  const train = trainLabel(state.train);
  const landings = useMore(story.landings.length, ROWS, "Earlier landings");
  const attempts = useLater(
    () => failedAttempts({ setbacks: failedAttemptViews(state, story.failedAttempts) }),
    [state, view.events],
    [],
  );
  const failed = useMore(attempts.length, ROWS, "Earlier failed attempts");
  const queue = waitingIn(view);
  const gating = runningIn(view, word).filter(({ kind }) => kind === "land" || kind === "check");
  return (
    <section aria-label="Landing">
      <h2>
        <Word is="queue">Queue</Word>
      </h2>
      {queue.length === 0 && <p class="quiet">Nothing waits to land.</p>}
      <ol>
        {queue.slice(0, ROWS).map(({ task, name }) => (
          <li>
            <a href={addressOf({ run, tab: "landing", task })}>{line(name)}</a>
          </li>
        ))}
      </ol>
      {queue.length > ROWS && <p class="quiet">and {queue.length - ROWS} more</p>}
      {gating.map(({ job, kind, on, isMoving, tasks, since, doing, ...place }) => (
        <p key={job}>
          {kind !== "land"
            ? place.isUntaken
              ? "Check of the target branch"
              : "Checking the target branch"
            : `${isMoving ? "Landing" : place.isUntaken ? "Gate for" : "Gate runs on"} ${tasks.map(({ name }) => line(name, 40)).join(", ")}${on ? `, on top of ${plural(on, "candidate")}` : ""}`}
          {place.isUntaken
            ? ": waiting for a machine"
            : ` for ${duration(Date.now() - since)}${harmless(placeLabel(place))}`}
          {doing && `: ${line(doing)}`}
        </p>
      ))}
      {phase.is !== "open" && <p>{phaseLabel(phase, (task) => line(nameOf(state, task), 40))}</p>}
      {train !== "" && <p>{train}</p>}
      <h2>Landed ({story.landings.length})</h2>
      <div class="scroll" tabIndex={0} role="group" aria-label="Landings">
        <table>
          <thead>
            <tr>
              <th>When</th>
              <th>Commit</th>
              <th>Tasks</th>
              <th>Proof</th>
            </tr>
          </thead>
          <tbody>
            {story.landings
              .slice(-landings.shown)
              .toReversed()
              .map((landed) => (
                <Landed key={landed.commit} run={run} landed={landingView(state, landed)} />
              ))}
          </tbody>
        </table>
      </div>
      {landings.button}
      {attempts.length > 0 && (
        <>
          <h2>Failed attempts ({attempts.length})</h2>
          <ul>
            {attempts
              .slice(-failed.shown)
              .toReversed()
              .map(({ at, name, task, attempt, failure }) => (
                <li>
                  {time(at)} <a href={addressOf({ run, tab: "landing", task })}>{line(name, 60)}</a>
                  {attempt !== undefined && `, attempt ${attempt}`}: {line(harmless(failure.message), 300)}
                </li>
              ))}
          </ul>
          {failed.button}
        </>
      )}
    </section>
  );
}

/** A landing does not change: it is drawn once, but for a clock that was set. */
function Landed({ run, landed }: { readonly run: string; readonly landed: LandingView }) {
  const { at, commit, members, proof, flaky } = landed;
  return useMemo(
    () => (
      <tr>
        <td>{time(at)}</td>
        <td>
          <code>{commit.slice(0, 10)}</code>
        </td>
        <td>
          {members.map(({ task, name }, i) => (
            <>
              {i > 0 && ", "}
              <a href={addressOf({ run, tab: "landing", task })}>{line(name, 60)}</a>
            </>
          ))}
        </td>
        <td>
          {proofLabel(proof)}
          {flaky.length > 0 && <span class="quiet">, {plural(flaky.length, "flaky test")}</span>}
        </td>
      </tr>
    ),
    [run, commit, at],
  );
}
