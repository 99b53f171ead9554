/** The page: the list of runs, the devices, or one run, by the part of its address after the #. */
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "./answer.ts";
import { api } from "./api.ts";
import { Devices } from "./devices.tsx";
import { line } from "./format.ts";
import { routeOf } from "./parts.ts";
import { RunPage } from "./run-page.tsx";
import { Runs } from "./runs.tsx";
import { signIn } from "./sign-in.ts";

function App() {
  const [route, setRoute] = useState(routeOf(location.hash));
  const [links, setLinks] = useState(0);
  const { value: { repository } = { repository: "" }, error, status } = useAnswer(api.repository, [links]);
  useEffect(() => {
    const onHash = () => {
      void signIn().then((isLink) => isLink && setLinks((n) => n + 1));
      setRoute(routeOf(location.hash)); // Without the sign-in link.
    };
    addEventListener("hashchange", onHash);
    onHash(); // The address may have changed before the listener was added.
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
        {status !== 401 && error && <p role="alert">{error}</p>}
      </header>
      {status === 401 ? (
        <main>
          <h1>Not signed in</h1>
          <p role="alert">{error}</p>
        </main>
      ) : route.run ? (
        <RunPage key={route.run} run={route.run} route={route} />
      ) : route.tab === "devices" ? (
        <Devices />
      ) : (
        <Runs />
      )}
    </>
  );
}

await signIn();
render(<App />, document.getElementById("app")!);
