/** What stands above a month? */
export const MONTHS = [
  "January", "February", "March", "April", "May", "June",
  "July", "August", "September", "October", "November", "December",
];

export function monthTitle(year, month, width) {
  const text = MONTHS[month - 1] + " " + year;
  return " ".repeat(Math.max(0, Math.floor((width - text.length) / 2))) + text;
}
