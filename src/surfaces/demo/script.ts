/** Who does what in the demo? The workers' edits, with one accident of each common kind, and the planners' answers. */
import type { PlanTurn, Script, ScriptStep, WorkAttempt } from "../../ports/agent-script.ts";
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
import { LEFT_BEHIND } from "./project.ts";

/** What do the demo's planners ask for? Four sprints, and a part that is split once more. */
type Planned = {
  readonly id: string;
  readonly description: string;
  readonly acceptance: string;
  readonly scope: readonly string[];
  readonly after?: readonly string[];
  readonly priority?: number;
};

const fact = (name: string, question: string, more: Partial<Planned> = {}): Planned => ({
  id: name,
  description: `Write src/${name}.js: ${question}`,
  acceptance: `test/${name}.test.js tests it, with the odd cases`,
  scope: [`src/${name}.js`, `test/${name}.test.js`],
  ...more,
});

const turn = (
  scratchpad: string,
  tasks: readonly Planned[],
  more: Readonly<Record<string, unknown>> = {},
): PlanTurn => ({ delayMs: 100, answer: { scratchpad, tasks, ...more } });

/** What others wait for is urgent. The third is the bad one: two land before it is found, five after. */
const FACTS: readonly Planned[] = [
  fact("leap", "is a year a leap year, and how long is a month?", { priority: 2 }),
  fact("weekday", "which day of the week is a date?", { priority: 2 }),
  fact("week", "which ISO week is a date in?", { priority: 3 }),
  fact("season", "which season is it, north and south?", { priority: 4 }),
  fact("moon", "which phase has the moon?", { priority: 4 }),
  fact("zodiac", "under which sign is a date?", { priority: 4 }),
  fact("ordinal", "how is 1st, 2nd, 3rd, 11th said?"),
  fact("roman", "how did the Romans write a year?"),
];

const section = (name: "calendar" | "sky"): Planned => ({
  id: `${name}-facts`,
  description: `List what the ${name} says in src/index.js`,
  acceptance: `test/${name}-facts.test.js reads them from there`,
  scope: ["src/index.js", `test/${name}-facts.test.js`],
  after: ["leap", "week", "season", "moon", "zodiac"],
});

const TOGETHER = ["calendar", "calendar-facts", "sky-facts", "ordinal", "roman"];

const rootTurns: readonly PlanTurn[] = [
  turn("Sprint 1: the facts are independent of each other; the calendar is a part of its own.", [
    ...FACTS,
    {
      id: "calendar",
      description: "Draw a month: src/calendar, as in SPEC.md",
      acceptance: "a month is drawn as in SPEC.md, tested in test/calendar",
      scope: ["src/calendar/", "test/calendar/"],
      after: ["leap", "weekday"],
    },
  ]),
  turn("Sprint 2: list the facts. Both lists are in src/index.js, but on lines of their own.", [
    section("calendar"),
    section("sky"),
  ]),
  turn("Sprint 3: short names for the days, and one page of everything.", [
    {
      id: "day-names",
      description: "Let weekday() in src/weekday.js give a day's name in full and in short",
      acceptance: "test/weekday.test.js knows both",
      scope: ["src/weekday.js", "test/weekday.test.js"],
      after: TOGETHER,
    },
    {
      id: "page",
      description: "Write src/page.js: what is printed about a day?",
      acceptance: "the page of 2026-11-13 is that of SPEC.md",
      scope: ["src/page.js", "test/page.test.js"],
      after: TOGETHER,
    },
  ]),
  turn(
    "Sprint 4: the command, and a README that says whose seasons they are. Then SPEC.md is done.",
    [
      {
        id: "command",
        description: "Write bin/almanac.js: the page of a date, or of today",
        acceptance: "a day that does not exist is refused in words, with exit code 2",
        scope: ["bin/almanac.js", "test/command.test.js"],
        after: ["page"],
      },
      {
        id: "guide",
        description: "Say in the README how the almanac is used, and that its seasons are those of the north",
        acceptance: "a newcomer can print a page",
        scope: ["README.md"],
        after: ["page"],
      },
    ],
    // The worker at the seasons asked for it; by the fourth answer it has been heard.
    { addressed: ["c1"] },
  ),
];

/** The model is out of reach when its subplanner is asked first. */
const calendarTurns: readonly PlanTurn[] = [
  { end: "outage" },
  turn(
    "Days and title first; then the drawing.",
    [
      fact("grid", "which days are in a month, week by week?"),
      fact("title", "what stands above a month?"),
    ].map((task) => ({
      ...task,
      description: task.description.replace("src/", "src/calendar/"),
      scope: [`src/calendar/${task.id}.js`, `test/calendar/${task.id}.test.js`],
    })),
    {
      deferred: [
        {
          files: ["src/calendar/render.js", "test/calendar/render.test.js"],
          reason: "needs the days and the title",
        },
      ],
    },
  ),
  turn("The drawing.", [
    {
      id: "render",
      description: "Write src/calendar/render.js: how does a month look, with one day marked?",
      acceptance: "the month of SPEC.md is drawn",
      scope: ["src/calendar/render.js", "test/calendar/render.test.js"],
      after: ["grid", "title"],
    },
  ]),
];

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

/** Where one of the project's tests keeps something between runs: outside of the project, as flaky tests do. */
export const CACHE_VARIABLE = "ALMANAC_CACHE";

export const demoSettings = {
  /** Eight facts at once, a fix and the calendar's two beside them. */
  workers: 11,
  planners: 2,
  /** Two tasks may have src/index.js at once: landing sorts it out, which is what is to be seen. */
  overlap: "allow",
  /** What `npm test` runs, which would be found, too; but npm takes twice as long to start as the tests to run. */
  gate: ["node test/all.js"],
  /** The model is out of reach for a moment, not for the two seconds that are waited elsewhere. */
  "retry.first": "400ms",
  "workspace.pass": [CACHE_VARIABLE],
  /** Nobody wrote its tests but us, and the flaky one keeps a file outside, which in the sandbox is never there. */
  gateSandbox: "off",
} as const;
