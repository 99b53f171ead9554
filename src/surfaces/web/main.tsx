/** The page: the list of runs, or one run, by what stands behind the # of its address. */
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ask, type DeviceLine, type RunLine, type RunList } from "./api.ts";
import { dayAndTime, line } from "./format.ts";
import { addressOf, routeOf } from "./parts.ts";
import { RunPage } from "./run-page.tsx";

function App() {
  const [route, setRoute] = useState(routeOf(location.hash));
  const [list, setList] = useState<RunList | undefined>();
  const [error, setError] = useState<string | undefined>();
  useEffect(() => {
    const onHash = () => setRoute(routeOf(location.hash));
    addEventListener("hashchange", onHash);
    onHash(); // It may have changed before anybody listened.
    return () => removeEventListener("hashchange", onHash);
  }, []);
  useEffect(() => {
    void ask<RunList>("/api/runs").then((answer) => {
      if ("error" in answer) setError(answer.error);
      else setList(answer.value);
    });
  }, [route.run]);
  useEffect(() => {
    document.title = [route.run, list?.repository, "Skein"].filter(Boolean).join(" · ");
  }, [route.run, list]);
  return (
    <>
      <header class="bar">
        <a class="brand" href="#/">
          Skein
        </a>
        <span class="quiet">{list?.repository}</span>
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
        <Runs runs={list?.runs} />
      )}
    </>
  );
}

function Runs({ runs }: { readonly runs: readonly RunLine[] | undefined }) {
  return (
    <main>
      <h1>Runs</h1>
      {runs?.length === 0 && <p>No run yet: `skein run` starts one.</p>}
      <ul class="runs">
        {runs?.map((run) =>
          "problem" in run ? (
            <li class="bad">{run.problem}</li>
          ) : (
            <li>
              <a href={addressOf({ run: run.run, tab: "graph" })}>
                <strong>{run.run}</strong> <span class="quiet">{dayAndTime(run.createdAt)}</span>
                <br />
                {line(run.goal, 160)}
              </a>
            </li>
          ),
        )}
      </ul>
    </main>
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
