/** The page: the list of runs, or one run, by what stands behind the # of its address. */
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { RunLine } from "../../core/view/run-line.ts";
import { ask, type DeviceLine, type ListedRun } from "./api.ts";
import { dayAndTime, line, plural } from "./format.ts";
import { addressOf, routeOf } from "./parts.ts";
import { RunPage } from "./run-page.tsx";

/** How late the list of runs shows what has become of them. */
const LIST_MS = 5_000;

function App() {
  const [route, setRoute] = useState(routeOf(location.hash));
  const [repository, setRepository] = useState("");
  const [error, setError] = useState<string | undefined>();
  useEffect(() => {
    const onHash = () => setRoute(routeOf(location.hash));
    addEventListener("hashchange", onHash);
    onHash(); // It may have changed before anybody listened.
    return () => removeEventListener("hashchange", onHash);
  }, []);
  useEffect(() => {
    void ask<{ repository: string }>("/api/repository").then((answer) =>
      "error" in answer ? setError(answer.error) : setRepository(answer.value.repository),
    );
  }, []);
  useEffect(() => {
    document.title = [route.run, repository, "Skein"].filter(Boolean).join(" · ");
  }, [route.run, repository]);
  return (
    <>
      <header class="bar">
        <a class="brand" href="#/">
          Skein
        </a>
        <span class="quiet">{line(repository)}</span>
        {route.run && <span class="quiet">run {route.run}</span>}
        <a class="end" href="#//devices">
          Devices
        </a>
      </header>
      {error && <p role="alert">{error}</p>}
      {route.run ? (
        <RunPage key={route.run} run={route.run} route={route} />
      ) : route.tab === "devices" ? (
        <Devices />
      ) : (
        <Runs />
      )}
    </>
  );
}

function Runs() {
  const [runs, setRuns] = useState<readonly ListedRun[] | undefined>();
  const [error, setError] = useState<string | undefined>();
  useEffect(() => {
    const load = () =>
      void ask<readonly ListedRun[]>("/api/runs").then((answer) => {
        setError("error" in answer ? answer.error : undefined);
        if ("value" in answer) setRuns(answer.value);
      });
    load();
    const timer = setInterval(() => document.hidden || load(), LIST_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <main aria-busy={runs === undefined}>
      <h1>Runs</h1>
      {error && <p role="alert">{error}</p>}
      {runs?.length === 0 && <p>No run yet: `skein run` starts one.</p>}
      <ul class="runs">
        {runs?.map((run) => (
          <li key={"run" in run ? run.run : run.problem}>
            {"problem" in run ? <span class="bad">{line(run.problem, 300)}</span> : <RunLink {...run} />}
          </li>
        ))}
      </ul>
    </main>
  );
}

function RunLink({ run, goal, createdAt, is, label, done, total, needsYou }: RunLine) {
  return (
    <a href={addressOf({ run, tab: "graph" })}>
      <span class="facts">
        <strong>{run}</strong>
        <span class={`pill ${label === "stopped" ? "paused" : is}`}>{label}</span>
        {needsYou && <span class="pill paused">needs you</span>}
        <span>
          {done} of {plural(total, "task")} done
        </span>
        <span class="quiet">{dayAndTime(createdAt)}</span>
      </span>
      {line(goal, 160)}
    </a>
  );
}

function Devices() {
  const [devices, setDevices] = useState<readonly DeviceLine[]>([]);
  const [error, setError] = useState<string | undefined>();
  const load = () =>
    void ask<readonly DeviceLine[]>("/api/devices").then((answer) =>
      "error" in answer ? setError(answer.error) : setDevices(answer.value),
    );
  useEffect(load, []);
  const revoke = async (id: string) => {
    await ask(`/api/devices/${encodeURIComponent(id)}`, { method: "DELETE" });
    load();
  };
  return (
    <main>
      <h1>Devices that may see and steer runs</h1>
      {error && <p role="alert">{error}</p>}
      <ul class="runs">
        {devices.map(({ id, name, since, isThis }) => (
          <li class="row">
            <span>
              {line(name)} <span class="quiet">since {dayAndTime(since)}</span>{" "}
              {isThis && <strong>(this one)</strong>}
            </span>
            <button type="button" onClick={() => void revoke(id)}>
              Revoke
            </button>
          </li>
        ))}
      </ul>
    </main>
  );
}

render(<App />, document.getElementById("app")!);
