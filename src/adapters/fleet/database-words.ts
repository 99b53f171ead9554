/** Explains Postgres's errors to people, and tells which of them are temporary. */
import { type FailureKind, messageOf } from "../../core/failure.ts";

type Reason = { readonly why: string; readonly next?: string; readonly kind?: FailureKind };

/** No message holds the address, its host, its user or its password. */
export function reasonOf(error: unknown, url: string): Reason {
  const code = codeOf(error);
  const known = BY_CODE[code];
  if (known) return known;
  if (isAway(error)) return { why: `cannot be reached (${code || "the connection was lost"})`, next: REACH };
  return { why: `refused it: ${without(url, messageOf(error))}${code ? ` (${code})` : ""}` };
}

/** Whether Postgres may be back soon: it restarts, it is too busy, or the network is gone. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error);
  return (
    AWAY.has(code) ||
    code.startsWith("08") || // Connection failures.
    (code === "" && AWAY_WORDS.test(messageOf(error)))
  );
}

const AWAY: ReadonlySet<string> = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENETUNREACH", "EHOSTUNREACH", "EAI_AGAIN"],
  ...["57P01", "57P02", "57P03", "57P05"], // The server is shutting down or starting.
  "53300", // Too many connections.
  ...["40001", "40P01", "55P03"], // The transaction lost against another one.
]);

/** The driver's own errors have no code. */
const AWAY_WORDS = /connection terminated|connection timeout|timeout exceeded|read timeout|not queryable/i;

const REACH = "check that it runs and that SKEIN_FLEET_URL leads to it";

const BY_CODE: Readonly<Record<string, Reason>> = {
  ENOTFOUND: { why: "cannot be reached: there is no such host", next: REACH },
  ECONNREFUSED: { why: "cannot be reached: the connection was refused", next: REACH },
  "28P01": { why: "refused the user or the password", next: "check SKEIN_FLEET_URL" },
  "28000": { why: "refused the user", next: "check SKEIN_FLEET_URL, and pg_hba.conf of the server" },
  "3D000": { why: "has no such database", next: "create it, or check SKEIN_FLEET_URL" },
  "42501": {
    why: "does not allow that to the user of SKEIN_FLEET_URL",
    next: "coordinators need the owner's address, workers the one that `skein fleet init` printed",
  },
  "3F000": { why: "has no fleet yet", next: "`skein fleet init` makes it" },
  "42P01": { why: "has no fleet yet, or an older one", next: "`skein fleet init` makes it" },
  // Raised by the fleet's own SQL functions.
  SK001: { why: "knows no such job any more: it is over, or another machine has it", kind: "interrupted" },
  SK002: {
    why: "does not let this machine work any more: its invitation was revoked or has expired",
    next: "let the owner invite it again: skein fleet invite <name>",
  },
  "53300": {
    why: "has no free connection",
    next: "raise max_connections there, or put PgBouncer in front of it",
  },
  "55P03": {
    why: "keeps a statement waiting: another session holds what it needs",
    next: "see `skein doctor --fleet`: coordinators may have no right to end sessions of workers",
  },
  "53100": { why: "has a full disk", next: "free some space there" },
};

/** If several addresses were tried, the first error counts. */
function codeOf(error: unknown): string {
  const { code, errors } = Object(error) as { code?: unknown; errors?: readonly unknown[] };
  if (typeof code === "string") return code;
  return Array.isArray(errors) && errors.length > 0 ? codeOf(errors[0]) : "";
}

function without(url: string, text: string): string {
  const parts = partsOf(url).filter((part) => part.length > 2);
  return parts.reduce((shown, part) => shown.replaceAll(part, "…"), text);
}

function partsOf(url: string): readonly string[] {
  try {
    const { password, host, hostname } = new URL(url);
    return [url, password, decodeURIComponent(password), host, hostname];
  } catch {
    return [url];
  }
}
