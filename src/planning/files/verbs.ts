/** With which verbs do the subjects of tasks begin? */

const firstWord = (subject: string) => /^[A-Za-z]+/.exec(subject)?.[0].toLowerCase() ?? "";

export const isReadingVerb = (subject: string): boolean => READING_VERBS.has(firstWord(subject));
export const isVerb = (subject: string): boolean =>
  isReadingVerb(subject) || OTHER_VERBS.has(firstWord(subject));

const wordsOf = (words: string): ReadonlySet<string> => new Set(words.split(" "));

/** A task that does this and names no file to change makes a report. */
const READING_VERBS = wordsOf(
  "review analyse analyze summarise summarize report audit assess evaluate examine explore inspect investigate " +
    "research understand compare list scan catalog catalogue verify validate check survey study identify find",
);

/** Only for the title in the present continuous. */
const OTHER_VERBS = wordsOf(
  "add adjust adopt align allow annotate append apply archive avoid backfill benchmark build bump cache change " +
    "clean close collect combine compute configure connect consolidate convert copy count create cut debug " +
    "declare decouple delete deploy deprecate design detect disable display do document draft drop dump enable " +
    "encode ensure expand export expose extend extract fetch fill filter finish fix flatten format generate get " +
    "guard handle harden hide implement import improve increase inline insert install integrate introduce isolate " +
    "keep limit link load localise localize lock log lower make map mark measure merge migrate mock modernise " +
    "modernize move name normalise normalize open optimise optimize organise organize package parse patch persist " +
    "pin plan polish port prepare prevent profile protect provide publish push put raise read rebuild record " +
    "redesign reduce refactor register release remove rename render reorganise reorganize replace reset resolve " +
    "restore restructure retry return reuse revert rewrite rotate run save schedule secure select send separate " +
    "serve set setup ship show simplify sort speed split start stop store stream strip style support swap switch " +
    "sync tag teach test tidy tighten track transform translate trim tune turn unify update upgrade use wire wrap " +
    "write",
);
