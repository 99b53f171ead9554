/** Lists the runs: the state of each, its cost, and whether its work was delivered. */
import { useEffect, useState } from "preact/hooks";
import type { RunLine } from "../../core/view/run-line.ts";
import { api, type ListedRun } from "./api.ts";
import { dayAndTime, duration, line, plural } from "./format.ts";
import { addressOf } from "./parts.ts";
import { Filter } from "./tools.tsx";

/** The interval at which the list is updated. */
const LIST_MS = 5_000;
/** Fewer runs need no filter. */
const MIN_FILTER = 4;

export function Runs() {
  const [runs, setRuns] = useState<readonly ListedRun[] | undefined>();
  const [error, setError] = useState<string | undefined>();
  const [wanted, setWanted] = useState("");
  useEffect(() => {
    const load = () =>
      void api.runs().then((answer) => {
        setError("error" in answer ? answer.error : undefined);
        if ("value" in answer) setRuns(answer.value);
      });
    load();
    const timer = setInterval(() => document.hidden || load(), LIST_MS);
    return () => clearInterval(timer);
  }, []);
  const needle = wanted.trim().toLowerCase();
  const found = runs?.filter((run) => textOf(run).toLowerCase().includes(needle)) ?? [];
  return (
    <main aria-busy={runs === undefined && error === undefined}>
      <h1>Runs</h1>
      {error && <p role="alert">{error}</p>}
      {runs && runs.length >= MIN_FILTER && (
        <Filter
          label="Filter runs"
          hint="Filter by name, goal or state, such as: not delivered"
          value={wanted}
          setValue={setWanted}
        >
          <output class="quiet">
            {needle === "" ? plural(runs.length, "run") : `${found.length} of ${plural(runs.length, "run")}`}
          </output>
        </Filter>
      )}
      {runs?.length === 0 && (
        <div class="empty">
          <p>There is no run in this repository yet. Start one in its folder:</p>
          <pre>skein run "what you want to have done"</pre>
          <p class="quiet">`skein demo` shows a whole run on a small project.</p>
        </div>
      )}
      {runs && runs.length > 0 && found.length === 0 && <p class="quiet">No run has these words.</p>}
      <ul class="runs">
        {found.map((run) => (
          <li key={"run" in run ? run.run : run.problem}>
            {"problem" in run ? <span class="bad">{line(run.problem, 300)}</span> : <RunLink {...run} />}
          </li>
        ))}
      </ul>
    </main>
  );
}

const textOf = (run: ListedRun): string =>
  "problem" in run
    ? run.problem
    : [run.run, run.goal, run.label, run.needsYou ? "needs you" : "", deliveredText(run)].join(" ");

const deliveredText = ({ delivered }: RunLine): string => (delivered ? DELIVERED[delivered] : "");
const DELIVERED = { yes: "delivered", no: "not delivered", nothing: "nothing landed" } as const;

function RunLink(props: RunLine) {
  const { run, goal, createdAt, is, label, done, total, needsYou, elapsedMs, cost, delivered } = props;
  return (
    <a href={addressOf({ run, tab: "graph" })}>
      <span class="facts">
        <strong>{run}</strong>
        <span class={`pill ${label === "stopped" ? "paused" : is}`}>{label}</span>
        {needsYou && <span class="pill paused">needs you</span>}
        <span>
          {done} of {plural(total, "task")} done
        </span>
        <span>{duration(elapsedMs)}</span>
        {cost !== "" && <span>{cost}</span>}
        {delivered && <span class={delivered === "yes" ? "well" : "quiet"}>{deliveredText(props)}</span>}
        <span class="quiet">{dayAndTime(createdAt)}</span>
      </span>
      {line(goal, 160)}
    </a>
  );
}
