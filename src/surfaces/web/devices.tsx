/** The browsers that may see and steer runs; each can be shut out. */
import { useEffect, useState } from "preact/hooks";
import { api, type DeviceLine } from "./api.ts";
import { dayAndTime, line } from "./format.ts";

export function Devices() {
  const [devices, setDevices] = useState<readonly DeviceLine[] | undefined>();
  const [error, setError] = useState<string | undefined>();
  const load = () =>
    void api
      .devices()
      .then((answer) => ("error" in answer ? setError(answer.error) : setDevices(answer.value)));
  useEffect(load, []);
  const revoke = async (id: string) => {
    await api.revoke(id);
    load();
  };
  return (
    <main aria-busy={devices === undefined && error === undefined}>
      <h1>Devices that may see and steer runs</h1>
      {error && <p role="alert">{error}</p>}
      {devices?.length === 0 && (
        <p class="quiet">
          No browser was let in by the printed address. What has the token itself is not listed.
        </p>
      )}
      <ul class="runs">
        {devices?.map(({ id, name, since, usedAt, isThis }) => (
          <li class="row wrap" key={id}>
            <span class="grow">
              {line(name)} {isThis && <strong>(this one)</strong>}
              <br />
              <span class="quiet">
                last used {dayAndTime(usedAt)}, let in {dayAndTime(since)}
              </span>
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
