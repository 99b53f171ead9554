/** How long is a year, and a month in it? */
export const isLeap = (year) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export const daysInMonth = (year, month) => (month === 2 && isLeap(year) ? 29 : DAYS[month - 1]);
