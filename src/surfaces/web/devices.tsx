/** Lists the browsers that may see and steer runs; each can be signed out. */
import { useState } from "preact/hooks";
import { useAnswer } from "./answer.ts";
import { api } from "./api.ts";
import { dayAndTime, line } from "./format.ts";

export function Devices() {
  const [revoked, setRevoked] = useState(0);
  const { value: devices, error } = useAnswer(api.devices, [revoked]);
  const revoke = async (id: string) => {
    await api.revoke(id);
    setRevoked(revoked + 1);
  };
  return (
    <main aria-busy={devices === undefined && error === undefined}>
      <h1>Devices that are let in</h1>
      {error && <p role="alert">{error}</p>}
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
