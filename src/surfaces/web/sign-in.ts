/** Signs this browser in by the address that `skein serve` printed. */
import { api } from "./api.ts";
import { keepSecret, secretHere } from "./secret.ts";

/** Whether the address was such a one. The link leaves it, and with it the history, before it is used. */
export async function signIn(): Promise<boolean> {
  const [, link] = /^#sign-in=(.+)/.exec(location.hash) ?? [];
  if (!link) return false;
  history.replaceState(null, "", "#/");
  // If this browser is let in already, the link is left for another one. Without a secret it cannot be.
  if (!secretHere() || !(await api.repository()).value) keepSecret((await api.signIn(link)).value?.secret);
  return true;
}
