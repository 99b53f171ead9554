/** Stores the secret that identifies this browser to the server, in the page's local storage. */

/** The storage of this origin: unlike a cookie, a secret in it is never sent to another port of this machine. */
const KEPT = "skein";
/** If a browser stores nothing, a tab keeps the secret while it is open. */
let known = "";

export function secretHere(): string {
  try {
    known = localStorage.getItem(KEPT) ?? known;
  } catch {} // Storage may be unreadable here.
  return known;
}

export function keepSecret(secret = known): void {
  known = secret;
  try {
    localStorage.setItem(KEPT, secret);
  } catch {} // The next tab must sign in too.
}
