/** Which day is meant? A date is { year, month, day }, by the Gregorian calendar. */
const DAY_MS = 86_400_000;

/** Days since 1970-01-01. */
export function dayNumber({ year, month, day }) {
  if (year < 1970) throw new RangeError("no days before 1970 yet: " + year);
  return Date.UTC(year, month - 1, day) / DAY_MS;
}

export function fromDayNumber(number) {
  const at = new Date(number * DAY_MS);
  return { year: at.getUTCFullYear(), month: at.getUTCMonth() + 1, day: at.getUTCDate() };
}

export function parseDate(text) {
  const match = /^([1-9]\d{3})-(\d\d)-(\d\d)$/.exec(text);
  if (!match) throw new RangeError("not a date like 2026-11-13: " + text);
  const [year, month, day] = match.slice(1).map(Number);
  const real = fromDayNumber(dayNumber({ year, month, day }));
  if (real.month !== month || real.day !== day) throw new RangeError("there is no such day: " + text);
  return real;
}
