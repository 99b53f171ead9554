/** The demo's script: the workers' edits, with one accident of each common kind, and the planners' answers. */
import type { PlanTurn, Script, ScriptStep, WorkAttempt } from "../../ports/agent-script.ts";
import { writtenFor } from "./project.ts";

/** A task of the demo's plans, which have four sprints, and a part that is split once more. */
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

/** Tasks that others wait for are urgent. The third is the bad one: two land before it is found, five after. */
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
    // Concern c1 of the worker of the seasons asks for this README; the planner has it by its fourth answer.
    { addressed: ["c1"] },
  ),
];

/** The model is unreachable at the subplanner's first turn. */
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
 * Everything depends on the number of the attempt or on accepted work, not on hidden state: a run that is killed and
 * resumed ends the same way. Where the order matters, one task waits for the other by the run's own records, so that a
 * slow machine shows the same as a fast one.
 */
export const demoScript = (): Script => ({
  plans: { t: rootTurns, calendar: calendarTurns },
  work: {
    "fix-tests-1": [mending],
    leap: [made("leap", 400)],
    weekday: [made("weekday", 600)],
    ordinal: [{ steps: [say("writing src/ordinal.js"), wait(300)], end: "crash" }, made("ordinal", 300)],
    roman: [made("roman", 700)],
    season: [straying(), made("season", 300, { concerns: [SOUTH] })],
    moon: [made("moon", 900)],
    zodiac: [boasting, made("zodiac", 300)],
    week: [made("week", 700, { instead: "week-too-simple" }), made("week", 200)],
    grid: [made("grid", 200)],
    title: [made("title", 200)],
    render: [made("render", 200)],
    "calendar-facts": [listed("calendar", 200)],
    "sky-facts": [listed("sky", 200, [landed("calendar-facts")]), listed("sky", 200)],
    // Lands while the page's worker still uses the old names, in another file: git sees no conflict.
    "day-names": [made("day-names", 200)],
    page: [
      made("page", 200, { instead: "page-before-day-names", last: [landed("day-names")] }),
      made("page", 200),
    ],
    guide: [{ steps: [wait(200), ...written("guide")], end: complete("wrote how to use it") }],
    // One of its tests is flaky: it fails at its first run, and never again.
    command: [
      {
        steps: [wait(200), ...written("command")],
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
const written = (task: string): readonly ScriptStep[] =>
  Object.entries(writtenFor(task)).map(([path, text]) => ({ do: "write", path, text }));
const complete = (summary: string, more: { readonly concerns?: readonly string[] } = {}) => ({
  handoff: { status: "complete", summary, ...more },
});

const SOUTH = "the command cannot say which hemisphere it is for: the README should name the north";

/** `instead` names the files that a first attempt writes in place of some of its own. */
type Try = {
  readonly instead?: string;
  readonly concerns?: readonly string[];
  readonly last?: readonly ScriptStep[];
};

/** Writes a module and its test, with the task's time spread over both. */
function made(task: string, ms: number, { instead, last = [], ...more }: Try = {}): WorkAttempt {
  const files = Object.entries({ ...writtenFor(task), ...(instead && writtenFor(instead)) });
  const steps = files.flatMap(([path, text]): ScriptStep[] => [
    wait(ms / files.length),
    { do: "write", path, text },
  ]);
  const module = files[0]?.[0];
  return {
    steps: [say(`writing ${module}`), ...steps, ...last],
    end: complete(`added ${module} with its test`, more),
  };
}

/** A forgotten guard: the gate fails on the base, and the first check finds it. */
const LEFT_BEHIND = `  if (year < 1970) throw new RangeError("no days before 1970 yet: " + year);\n`;

/**
 * Fixes what a check found. Nothing else lands on a red target, so it waits until all facts are ready: then they are in
 * one candidate, and one of them is bad.
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

/** The text that goes into src/index.js below the line of each section, and in place of its empty list. */
const SECTIONS = {
  calendar: {
    imports: `import { isLeap } from "./leap.js";
import { isoWeek } from "./week.js";`,
    list: `  calendar: [
    ["week", (date) => isoWeek(date).week + " of " + isoWeek(date).year],
    ["leap", ({ year }) => (isLeap(year) ? "a leap year" : "no leap year")],
  ],`,
  },
  sky: {
    imports: `import { moonPhase } from "./moon.js";
import { season } from "./season.js";
import { zodiac } from "./zodiac.js";`,
    list: `  sky: [
    ["moon", moonPhase],
    ["season", (date) => season(date)],
    ["zodiac", zodiac],
  ],`,
  },
} as const;

/** Two workers fill both sections in one file at once: the second to land conflicts, and is retried. */
function listed(section: keyof typeof SECTIONS, ms: number, last: readonly ScriptStep[] = []): WorkAttempt {
  const { imports, list } = SECTIONS[section];
  const mark = `// The ${section}'s facts.`;
  return {
    steps: [
      wait(ms),
      { do: "replace", path: "src/index.js", find: mark, with: `${mark}\n${imports}` },
      { do: "replace", path: "src/index.js", find: `  ${section}: [],`, with: list },
      ...written(`${section}-facts`),
      ...last,
    ],
    end: complete(`listed the ${section}'s facts in src/index.js`),
  };
}

/** Does its task, and changes a file outside its scope. */
const straying = (): WorkAttempt => ({
  steps: [
    wait(500),
    ...written("season"),
    { do: "append", path: "README.md", text: "\nSeasons are those of the north.\n" },
  ],
  end: complete("added src/season.js with its test, and a line to the README"),
});

/** Reports that it is done, but its branch has no change. */
const boasting: WorkAttempt = {
  steps: [wait(500), say("all tests pass")],
  end: complete("added src/zodiac.js with its test; everything works"),
};

/** The variable for a folder in which one of the project's tests stores a file between runs, as flaky tests do. */
export const CACHE_VARIABLE = "ALMANAC_CACHE";

export const demoSettings = {
  /** Eight facts at once, with a fix and the calendar's two tasks beside them. */
  workers: 11,
  planners: 2,
  /** Two tasks may change src/index.js at once, to show how landing resolves that. */
  overlap: "allow",
  /** The command of `npm test`, which would be found too; but npm takes twice as long to start as the tests to run. */
  gate: ["node test/all.js"],
  /** The model is unreachable for a moment, not for the usual two seconds. */
  "retry.first": "400ms",
  "workspace.pass": [CACHE_VARIABLE],
  /** The tests are our own, and the flaky one keeps a file outside, which does not exist in the sandbox. */
  gateSandbox: "off",
} as const;
