/** The secret by which this browser is known to the server, in the page's own storage. */

/** Storage of this origin alone: unlike a cookie, a secret in it is never sent to another port of this machine. */
const KEPT = "skein";
/** Where a browser keeps nothing, a tab knows it for as long as it is open. */
let known = "";

export function secretHere(): string {
  try {
    known = localStorage.getItem(KEPT) ?? known;
  } catch {} // It may not be read here.
  return known;
}

export function keepSecret(secret = known): void {
  known = secret;
  try {
    localStorage.setItem(KEPT, secret);
  } catch {} // The next tab has to sign in, too.
}
