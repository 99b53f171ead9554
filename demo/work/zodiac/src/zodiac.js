/** Under which sign is one born? */
const SIGNS = [
  ["Capricorn", 19], ["Aquarius", 18], ["Pisces", 20], ["Aries", 19], ["Taurus", 20], ["Gemini", 20],
  ["Cancer", 22], ["Leo", 22], ["Virgo", 22], ["Libra", 22], ["Scorpio", 21], ["Sagittarius", 21],
];

/** Each month begins under one sign, whose last day is beside it, and ends under the next. */
export function zodiac({ month, day }) {
  const [sign, lastDay] = SIGNS[month - 1];
  return day <= lastDay ? sign : SIGNS[month % 12][0];
}
