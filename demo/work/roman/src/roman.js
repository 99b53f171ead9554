/** How did the Romans write a year? */
const SIGNS = [
  [1000, "M"], [900, "CM"], [500, "D"], [400, "CD"], [100, "C"], [90, "XC"],
  [50, "L"], [40, "XL"], [10, "X"], [9, "IX"], [5, "V"], [4, "IV"], [1, "I"],
];

export function roman(year) {
  let rest = year;
  let text = "";
  for (const [value, sign] of SIGNS) {
    text += sign.repeat(Math.floor(rest / value));
    rest %= value;
  }
  return text;
}
