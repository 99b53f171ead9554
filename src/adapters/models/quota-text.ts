/** Reads from the words of a provider or program whether an account is rate limited, and until when. */

/** `until`: by the machine's clock. `waitMs`: set if the words gave a duration. */
export type Quota = { readonly until?: number; readonly waitMs?: number };

/**
 * Undefined if the words are about something else. Only for words that came with a failure: in a text about software
 * the same words can mean anything. A time of day without a zone is in the machine's own.
 *
 * ```ts
 * readQuotaText("Claude AI usage limit reached|1762941600", now); // { until: 1762941600000 }
 * readQuotaText("rate limit reached, try again in 20s", now); // { until: now + 20_000, waitMs: 20_000 }
 * readQuotaText("You exceeded your current quota", now); // {}
 * ```
 */
export function readQuotaText(text: string, now: number, zone = machineZone()): Quota | undefined {
  const said = text.slice(-MAX_READ_CHARS);
  if (!SPENT.test(said)) return undefined;
  return quotaUntil((at) => readReset(said, at, zone), now);
}

/** Tells a duration from a moment: a result that moves with the time of reading was given as a duration. */
export function quotaUntil(read: (now: number) => number | undefined, now: number): Quota {
  const until = read(now);
  if (until === undefined) return {};
  return read(now + 1) === until + 1 ? { until, waitMs: until - now } : { until };
}

/** When the limit ends, from words that are known to be about a limit. */
export function readReset(text: string, now: number, zone = machineZone()): number | undefined {
  const said = text.slice(-MAX_READ_CHARS);
  return (
    epochIn(said) ??
    isoIn(said) ??
    dateIn(said, now, zone) ??
    durationIn(said, now) ??
    clockIn(said, now, zone)
  );
}

/** "6m0s", "1.5s", "3 hours 20 minutes", "250ms"; undefined if there is none. */
export function durationMs(text: string): number | undefined {
  let total: number | undefined;
  for (const [, amount, unit] of text.matchAll(PART)) total = (total ?? 0) + Number(amount) * unitMs(unit!);
  return total === undefined ? undefined : Math.ceil(total);
}

/** A program may write any amount; the reason stands at the end. */
const MAX_READ_CHARS = 20_000;

/**
 * Also matches "You've hit your limit · resets 3pm", "5-hour limit reached", "Quota exceeded for metric", "out of
 * credits".
 */
const SPENT = anyOf(
  /(?:limit|quota|credits?|balance)s?\b[^.\n]{0,60}\b(?:reached|exceeded|exhausted|hit|used up|too low|depleted)/,
  /(?:reached|exceeded|hit|exhausted|used up)\b[^.\n]{0,60}\b(?:limits?|quotas?|credits?)\b/,
  /(?:usage|rate|session|weekly|daily|monthly|spending)[ _-]?limits?\b[^.\n]{0,80}\b(?:resets?|again|retry|wait)/,
  /\brate[ _-]?limit(?:ed|_error|_exceeded)\b|would exceed your [^.\n]{0,40}limit/,
  /\btoo many requests\b|\bresource[ _]exhausted\b|\binsufficient[ _](?:quota|credits|balance|funds)\b/,
  /\bout of (?:credits|quota|extra usage)\b|\bquota[ _]exceeded\b|\bcredit balance is too low\b/,
);

/** One expression that matches what any of these matches; case is ignored. */
export function anyOf(...shapes: readonly RegExp[]): RegExp {
  return new RegExp(shapes.map((shape) => shape.source).join("|"), "i");
}

/** "…|1762941600", in seconds or milliseconds. */
function epochIn(text: string): number | undefined {
  const digits = /\|\s*(\d{10}|\d{13})(?!\d)/.exec(text)?.[1];
  if (digits === undefined) return undefined;
  return digits.length === 10 ? Number(digits) * 1_000 : Number(digits);
}

/** "2026-11-16T14:05:00Z", and "2026-12-01 at 00:00 UTC". */
function isoIn(text: string): number | undefined {
  const found = ISO.exec(text);
  if (!found) return undefined;
  const [, day, time = "00:00", offset = "Z"] = found;
  const at = Date.parse(
    `${day}T${time.length === 5 ? `${time}:00` : time}${/utc|gmt/i.test(offset) ? "Z" : offset}`,
  );
  return Number.isNaN(at) ? undefined : at;
}
const ISO =
  /\b(\d{4}-\d{2}-\d{2})(?:(?:T| at | )(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s?(Z|UTC|GMT|[+-]\d{2}:\d{2})?)?/;

/** "resets Oct 7, 5am (UTC)", "try again at Nov 20th, 2026 4:05 PM". */
function dateIn(text: string, now: number, zone: string): number | undefined {
  const found = DATE.exec(text);
  if (!found) return undefined;
  const [, month = "", day = "", year, ...clock] = found;
  const time = timeOf(clock[0] ?? "0", clock[1], clock[2]);
  const here = zoneIn(text, found.index) ?? zone;
  const inYear = (is: number) =>
    wallClock({ year: is, month: MONTHS.indexOf(month.toLowerCase()), day: Number(day), ...time }, here);
  if (year !== undefined) return inYear(Number(year));
  const thisYear = new Date(now).getUTCFullYear();
  const at = inYear(thisYear);
  return at < now - DAY_MS ? inYear(thisYear + 1) : at; // A date that was given in December and means January.
}
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DATE = new RegExp(
  `\\b(${MONTHS.join("|")})[a-z]{0,6}\\.? (\\d{1,2})(?:st|nd|rd|th)?\\b(?:,? (\\d{4})\\b)?` +
    "(?:,? (?:at )?(\\d{1,2})(?::(\\d{2}))?\\s?([ap]\\.?m)?)?",
  "i",
);

/** "try again in 20s", "reset after 5h", "resets in 3 hours 20 minutes". */
function durationIn(text: string, now: number): number | undefined {
  const found = DURATION.exec(text);
  const ms = found ? durationMs(found[1]!) : undefined;
  return ms === undefined ? undefined : now + ms;
}
const UNIT =
  "(?:milliseconds?|msecs?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w)(?![a-z])";
const PART = new RegExp(`(\\d{1,9}(?:\\.\\d{1,9})?)\\s?(${UNIT})`, "gi");
const DURATION = new RegExp(
  '\\b(?:in|after|within|wait|for|retryDelay"?:)\\s{0,3}"?(?:about |another )?' +
    `((?:\\d{1,9}(?:\\.\\d{1,9})?\\s?${UNIT}(?:,? (?:and )?)?){1,6})`,
  "i",
);

function unitMs(unit: string): number {
  const word = unit.toLowerCase();
  if (word.startsWith("ms") || word.startsWith("mil")) return 1;
  return { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS }[word[0]!] ?? 0;
}

/** Reads "resets 3pm (Europe/Berlin)", "try again at 15:30": the next time that the clock shows it. */
function clockIn(text: string, now: number, zone: string): number | undefined {
  const found = CLOCK.exec(text);
  if (!found) return undefined;
  const [, hour = "", minute, half] = found;
  if (minute === undefined && half === undefined) return undefined; // A bare number can mean anything.
  const time = timeOf(hour, minute, half);
  if (time.hour > 23 || time.minute > 59) return undefined;
  const here = zoneIn(text, found.index) ?? zone;
  const { year, month, day } = dayAt(now, here);
  const today = wallClock({ year, month, day, ...time }, here);
  return today > now ? today : wallClock({ year, month, day: day + 1, ...time }, here);
}
const CLOCK =
  /\b(?:resets?|again|until|available|regain\w*)\b(?: again)?(?: at| on| from)? (\d{1,2})(?::(\d{2}))?\s?([ap]\.?m)?\b/i;

function timeOf(hour: string, minute: string | undefined, half: string | undefined) {
  const h = Number(hour);
  const isAfternoon = half?.toLowerCase().startsWith("p");
  const whole = half === undefined ? h : (h % 12) + (isAfternoon ? 12 : 0);
  return { hour: whole, minute: Number(minute ?? 0) };
}

/** A zone name in brackets, or UTC, soon after the time. */
function zoneIn(text: string, from: number): string | undefined {
  const near = text.slice(from, from + 80);
  const name =
    /\(([A-Za-z]{3,20}(?:\/[A-Za-z_+-]{2,30}){0,2})\)/.exec(near)?.[1] ?? /\b(?:UTC|GMT)\b/.exec(near)?.[0];
  return name !== undefined && isZone(name) ? name : undefined;
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false; // A word in brackets that is no zone.
  }
}

const machineZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
const DAY_MS = 86_400_000;

type WallClock = {
  readonly year: number;
  /** Counted from 0. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
};

/** The moment at which clocks in the zone show this. */
function wallClock({ year, month, day, hour, minute }: WallClock, zone: string): number {
  const asUtc = Date.UTC(year, month, day, hour, minute);
  const first = asUtc - offsetMs(asUtc, zone);
  return asUtc - offsetMs(first, zone); // Computed once more, for days on which the clocks change.
}

function offsetMs(at: number, zone: string): number {
  const { year, month, day, hour, minute } = dayAt(at, zone);
  return Date.UTC(year, month, day, hour, minute) - Math.floor(at / 60_000) * 60_000;
}

function dayAt(at: number, zone: string): WallClock {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    ...{ year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" },
  }).formatToParts(at);
  const read = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  const [year, month, day] = [read("year"), read("month") - 1, read("day")];
  return { year, month, day, hour: read("hour"), minute: read("minute") };
}
