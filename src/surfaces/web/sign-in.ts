/** Signs this browser in with the link in the address that `skein serve` printed. */
import { api } from "./api.ts";
import { keepSecret, secretHere } from "./secret.ts";

/** True if the address had a link. The link is removed from the address and the history before it is used. */
export async function signIn(): Promise<boolean> {
  const [, link] = /^#sign-in=(.+)/.exec(location.hash) ?? [];
  if (!link) return false;
  history.replaceState(null, "", "#/");
  // If this browser is signed in already, the link stays usable for another one. Without a secret it cannot be.
  if (!secretHere() || !(await api.repository()).value) keepSecret((await api.signIn(link)).value?.secret);
  return true;
}
