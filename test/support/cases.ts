/** The number of cases that a property tries: at most 1,000 in `npm test`, all of them in `npm run verify`. */

const MOST_IN_A_HURRY = 1_000;

const isHurried = process.env["TEST_CASES"] === "few";

export const cases = (all: number, few: number = MOST_IN_A_HURRY): number =>
  isHurried ? Math.min(all, few) : all;
