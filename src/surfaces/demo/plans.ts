/** What do the demo's planners ask for? Four sprints, and a part that is split once more. */
import type { PlanTurn } from "../../ports/agent-script.ts";

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

export const rootTurns: readonly PlanTurn[] = [
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
export const calendarTurns: readonly PlanTurn[] = [
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
