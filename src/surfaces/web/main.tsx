/** The page: the list of runs, the devices, or one run, by what stands behind the # of its address. */
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "./answer.ts";
import { api } from "./api.ts";
import { Devices } from "./devices.tsx";
import { line } from "./format.ts";
import { routeOf } from "./parts.ts";
import { RunPage } from "./run-page.tsx";
import { Runs } from "./runs.tsx";

function App() {
  const [route, setRoute] = useState(routeOf(location.hash));
  const { value: { repository } = { repository: "" }, error } = useAnswer(api.repository, []);
  useEffect(() => {
    const onHash = () => setRoute(routeOf(location.hash));
    addEventListener("hashchange", onHash);
    onHash(); // It may have changed before anybody listened.
    return () => removeEventListener("hashchange", onHash);
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
        {route.run && <span class="quiet">run {line(route.run, 80)}</span>}
        <a class="end" href="#//devices">
          Devices
        </a>
        {error && <p role="alert">{error}</p>}
      </header>
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

render(<App />, document.getElementById("app")!);
