/** Who does what in the demo? The workers' edits, with one accident of each common kind, and the planners' answers. */
import type { Script, ScriptStep, WorkAttempt } from "../../ports/agent-script.ts";
import { type DemoPart, leap, moon, ordinal, roman, season, week, weekday, zodiac } from "./parts.ts";
import {
  calendarFacts,
  command,
  dayNames,
  grid,
  guide,
  page,
  render,
  skyFacts,
  title,
} from "./parts-together.ts";
import { calendarTurns, rootTurns } from "./plans.ts";
import { LEFT_BEHIND } from "./project.ts";

/**
 * Everything is chosen by the number of the attempt or by what was accepted, nothing by hidden state: a run that is
 * killed and resumed comes to the same end. Where it matters who is first, one waits for the other by the run's own
 * records, so that a slow machine shows the same as a fast one.
 */
export const demoScript = (): Script => ({
  plans: { t: rootTurns, calendar: calendarTurns },
  work: {
    "fix-tests-1": [mending],
    leap: [made("leap", leap, 400)],
    weekday: [made("weekday", weekday, 600)],
    ordinal: [
      { steps: [say("writing src/ordinal.js"), wait(300)], end: "crash" },
      made("ordinal", ordinal, 300),
    ],
    roman: [made("roman", roman, 700)],
    season: [straying, made("season", season, 300, SOUTH)],
    moon: [made("moon", moon, 900)],
    zodiac: [boasting, made("zodiac", zodiac, 300)],
    week: [made("week", { ...week, code: week.naive }, 700), made("week", week, 200)],
    grid: [made("calendar/grid", grid, 200)],
    title: [made("calendar/title", title, 200)],
    render: [made("calendar/render", render, 200)],
    "calendar-facts": [listed("calendar", calendarFacts, 200)],
    "sky-facts": [listed("sky", skyFacts, 200, [landed("calendar-facts")]), listed("sky", skyFacts, 200)],
    "day-names": [made("weekday", dayNames, 200)],
    page: [
      made("page", { ...page, code: page.before }, 200, {}, [landed("day-names")]),
      made("page", page, 200),
    ],
    guide: [{ steps: [wait(200), write("README.md", guide)], end: complete("wrote how to use it") }],
    command: [
      {
        steps: [
          wait(200),
          write("bin/almanac.js", command.code),
          write("test/command.test.js", command.test),
        ],
        end: complete("added the command, with the exit code that SPEC.md asks for"),
      },
    ],
  },
});

const wait = (ms: number): ScriptStep => ({ do: "wait", ms });
const ready = (task: string, attempt = 1): ScriptStep => ({
  do: "await",
  task,
  until: "ready",
  attempt,
  ms: MAX_AWAIT_MS,
});
const landed = (task: string): ScriptStep => ({ do: "await", task, until: "landed", ms: MAX_AWAIT_MS });
/** Longer than the slowest machine takes for the whole demo. */
const MAX_AWAIT_MS = 300_000;
const say = (text: string): ScriptStep => ({ do: "say", text });
const write = (path: string, text: string): ScriptStep => ({ do: "write", path, text });
const complete = (summary: string, more: { readonly concerns?: readonly string[] } = {}) => ({
  handoff: { status: "complete", summary, ...more },
});

const SOUTH = {
  concerns: ["the command cannot say which hemisphere it is for: the README should name the north"],
};

const made = (
  name: string,
  { code, test }: DemoPart,
  ms: number,
  more: { readonly concerns?: readonly string[] } = {},
  last: readonly ScriptStep[] = [],
): WorkAttempt => ({
  steps: [
    say(`writing src/${name}.js`),
    wait(ms / 2),
    write(`src/${name}.js`, code),
    wait(ms / 2),
    write(`test/${name}.test.js`, test),
    ...last,
  ],
  end: complete(`added src/${name}.js with its test`, more),
});

/**
 * Mends what a sweep found. Nothing else lands on a red target, so it takes until the facts are all there: then they
 * are in one candidate, and one of them is bad.
 */
const mending: WorkAttempt = {
  steps: [
    say("looking for the guard in src/date.js"),
    ...["leap", "weekday", "week", "moon", "roman"].map((fact) => ready(fact)),
    ...["season", "zodiac", "ordinal"].map((fact) => ready(fact, 2)),
    { do: "replace", path: "src/date.js", find: LEFT_BEHIND, with: "" },
  ],
  end: complete("took out the guard against days before 1970: they are numbered like all others"),
};

/** Both sections are filled in one file, by two workers at once: the second to land conflicts, and is made again. */
const listed = (
  section: "calendar" | "sky",
  facts: { readonly imports: string; readonly list: string; readonly test: string },
  ms: number,
  last: readonly ScriptStep[] = [],
): WorkAttempt => ({
  steps: [
    wait(ms),
    {
      do: "replace",
      path: "src/index.js",
      find: `// The ${section}'s facts.`,
      with: `// The ${section}'s facts.\n${facts.imports}`,
    },
    { do: "replace", path: "src/index.js", find: `  ${section}: [],`, with: facts.list },
    write(`test/${section}-facts.test.js`, facts.test),
    ...last,
  ],
  end: complete(`listed the ${section}'s facts in src/index.js`),
});

/** Does its task, and helps itself to a file that is not its own. */
const straying: WorkAttempt = {
  steps: [
    wait(500),
    write("src/season.js", season.code),
    write("test/season.test.js", season.test),
    { do: "append", path: "README.md", text: "\nSeasons are those of the north.\n" },
  ],
  end: complete("added src/season.js with its test, and a line to the README"),
};

/** Says that it is done; its branch says otherwise. */
const boasting: WorkAttempt = {
  steps: [wait(500), say("all tests pass")],
  end: complete("added src/zodiac.js with its test; everything works"),
};
