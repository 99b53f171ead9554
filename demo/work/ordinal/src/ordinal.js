/** How is a number in a row said? */
const ENDINGS = { 1: "st", 2: "nd", 3: "rd" };

export function ordinal(n) {
  const isTeen = n % 100 >= 11 && n % 100 <= 13;
  return n + ((!isTeen && ENDINGS[n % 10]) || "th");
}
