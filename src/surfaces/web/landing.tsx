/** Shows the landing queue, gate runs with their output, bisections, landed tasks, and failures on the way. */
import { useMemo } from "preact/hooks";
import { nameOf } from "../../core/log/state.ts";
import { gateRunEnd, namesLabel } from "../../core/view/gate-runs.ts";
import {
  bisectionsOf,
  type GatedView,
  gatedLabel,
  gatedOf,
  gateEndLabel,
} from "../../core/view/gate-view.ts";
import {
  gateLabel,
  phaseLabel,
  proofLabel,
  runningIn,
  trainLabel,
  waitingIn,
} from "../../core/view/labels.ts";
import { failedAttempts } from "../../core/view/task-facts.ts";
import { failedAttemptViews, type LandingView, landingView } from "../../core/view/view.ts";
import { capital, precise } from "../../text/words.ts";
import { Bisection } from "./bisection.tsx";
import { duration, harmless, line, plural, time } from "./format.ts";
import { GateOutput } from "./gate-output.tsx";
import { GateRow } from "./gate-row.tsx";
import { useLater } from "./later.ts";
import { useMore } from "./more.tsx";
import { addressOf, type PageParts } from "./parts.ts";
import { Word } from "./word.tsx";

const ROWS = 50;
const PICTURES = 5;

export function Landing(parts: PageParts) {
  return (
    <section aria-label="Landing">
      <Queue {...parts} />
      <Bisections {...parts} />
      <GateRuns {...parts} />
      <Landings {...parts} />
      <FailedAttempts {...parts} />
    </section>
  );
}

function Queue({ run, view, seen, word }: PageParts) {
  const { state } = seen;
  const { phase } = state.landing;
  const train = trainLabel(state.train);
  const queue = waitingIn(view);
  const gating = runningIn(view, word).filter(({ kind }) => kind === "land" || kind === "check");
  return (
    <>
      <h2>
        <Word is="queue">Queue</Word>
      </h2>
      {queue.length === 0 && <p class="quiet">Nothing waits to land.</p>}
      <ol>
        {queue.slice(0, ROWS).map(({ task, name }) => (
          <li key={task}>
            <a href={addressOf({ run, tab: "landing", task })}>{line(name)}</a>
          </li>
        ))}
      </ol>
      {queue.length > ROWS && <p class="quiet">and {queue.length - ROWS} more</p>}
      {gating.map((gate) => (
        <p key={gate.job}>
          {harmless(capital(gateLabel(gate, namesLabel(gate.tasks.map(({ name }) => line(name, 40))))))}
          {!gate.isUntaken && ` for ${duration(Date.now() - gate.since)}`}
          {gate.doing && `: ${line(gate.doing)}`}
        </p>
      ))}
      {phase.is !== "open" && <p>{phaseLabel(phase, (task) => line(nameOf(state, task), 40))}</p>}
      {train !== "" && <p>{train}</p>}
    </>
  );
}

function Bisections({ run, seen, view }: PageParts) {
  const pictures = useLater(() => bisectionsOf(seen), [seen, view.events], []);
  const { shown, button } = useMore(pictures.length, PICTURES, "Earlier bisections");
  if (pictures.length === 0) return null;
  return (
    <>
      <h2>Bisections ({pictures.length})</h2>
      {pictures
        .slice(-shown)
        .toReversed()
        .map((picture) => (
          <Bisection key={picture.from} run={run} picture={picture} />
        ))}
      {button}
    </>
  );
}

function GateRuns({ run, seen, view }: PageParts) {
  const runs = useLater(() => gatedOf(seen), [seen, view.events], []);
  const { shown, button } = useMore(runs.length, ROWS, "Earlier runs of the gate");
  if (runs.length === 0) return null;
  return (
    <>
      <h2>
        Runs of the <Word is="gate" /> ({runs.length})
      </h2>
      <ul class="gates">
        {runs
          .slice(-shown)
          .toReversed()
          .map((one) => (
            <Gate key={one.job} run={run} gated={one} />
          ))}
      </ul>
      {button}
    </>
  );
}

function Gate({ run, gated }: { readonly run: string; readonly gated: GatedView }) {
  const { from, to, end, on, outputs } = gated;
  const above = on > 0 ? ` on top of ${plural(on, "candidate")}` : "";
  return (
    <li>
      <GateRow
        at={from}
        end={gateEndLabel(end)}
        tone={end === "passed" ? "well" : end === "failed" || end === "error" ? "bad" : ""}
        ms={to && to - from}
        about={gatedLabel(gated) + above}
      >
        {() => (
          <>
            {outputs.length === 0 && <p class="quiet">Its output is not kept.</p>}
            {outputs.map(({ output, green, ms }) => (
              <div key={output}>
                {outputs.length > 1 && (
                  <p>
                    {gateRunEnd({ green, isRunning: undefined })}
                    {ms !== undefined && ` after ${precise(ms)}`}
                  </p>
                )}
                <GateOutput
                  key={end}
                  run={run}
                  output={output}
                  hasPassed={green ?? end === "passed"}
                  isRunning={end === undefined}
                />
              </div>
            ))}
          </>
        )}
      </GateRow>
    </li>
  );
}

function Landings({ run, seen }: PageParts) {
  const { state, story } = seen;
  const { shown, button } = useMore(story.landings.length, ROWS, "Earlier landings");
  return (
    <>
      <h2>Landed ({story.landings.length})</h2>
      {story.landings.length === 0 ? (
        <p class="quiet">Nothing has landed yet.</p>
      ) : (
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
                .slice(-shown)
                .toReversed()
                .map((landed) => (
                  <Landed key={landed.commit} run={run} landed={landingView(state, landed)} />
                ))}
            </tbody>
          </table>
        </div>
      )}
      {button}
    </>
  );
}

/** A landing does not change, so it is rendered once, unless the clock was set. */
function Landed({ run, landed }: { readonly run: string; readonly landed: LandingView }) {
  const { at, commit, members, flaky } = landed;
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
          {proofLabel(landed)}
          {flaky.length > 0 && <span class="quiet">, {plural(flaky.length, "flaky test")}</span>}
        </td>
      </tr>
    ),
    [run, commit, at],
  );
}

function FailedAttempts({ run, seen, view }: PageParts) {
  const { state, story } = seen;
  const attempts = useLater(
    () => failedAttempts({ setbacks: failedAttemptViews(state, story.failedAttempts) }),
    [state, view.events],
    [],
  );
  const { shown, button } = useMore(attempts.length, ROWS, "Earlier failed attempts");
  if (attempts.length === 0) return null;
  return (
    <>
      <h2>Failed attempts ({attempts.length})</h2>
      <ul>
        {attempts
          .slice(-shown)
          .toReversed()
          .map(({ at, name, task, attempt, failure }) => (
            <li>
              {time(at)} <a href={addressOf({ run, tab: "landing", task })}>{line(name, 60)}</a>
              {attempt !== undefined && `, attempt ${attempt}`}: {line(harmless(failure.message), 300)}
            </li>
          ))}
      </ul>
      {button}
    </>
  );
}
