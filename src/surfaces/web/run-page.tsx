/** Shows one run: its state, what needs a person, and its tasks as a graph, a timeline or a list. */
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import { budgetTexts } from "../../core/view/budget-left.ts";
import { delaysOf } from "../../core/view/delays.ts";
import { elapsedMs } from "../../core/view/elapsed.ts";
import { doneLabel, healthLabel, machinesIn, runLabel, spentLabel } from "../../core/view/labels.ts";
import { canResume } from "../../core/view/needs.ts";
import { machinesLabel } from "../../core/view/view-machines.ts";
import { command } from "./api.ts";
import { Cost } from "./cost.tsx";
import { duration, harmless, line, time } from "./format.ts";
import { Graph } from "./graph.tsx";
import { Health } from "./health.tsx";
import { Landing } from "./landing.tsx";
import { LiveRun } from "./live-run.ts";
import { Log } from "./log.tsx";
import { Needs } from "./needs.tsx";
import { addressOf, type PageParts, type Route } from "./parts.ts";
import { TaskList } from "./task-list.tsx";
import { TaskPage } from "./task-page.tsx";
import { Timeline } from "./timeline.tsx";
import { AllWords, Word } from "./word.tsx";

const TABS = [
  ["graph", "Graph"],
  ["timeline", "Timeline"],
  ["tasks", "Tasks"],
  ["landing", "Landing"],
  ["health", "Health"],
  ["cost", "Cost"],
  ["log", "Log"],
] as const;

export function RunPage({ run, route }: { readonly run: string; readonly route: Route }) {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const live = useRef<LiveRun>(undefined);
  useEffect(() => {
    const opened = new LiveRun(run, () => redraw(undefined));
    live.current = opened;
    // For tests and for the browser's console: the shown run, and how much of its log was read.
    (window as { skein?: LiveRun }).skein = opened;
    return () => opened.close();
  }, [run]);
  useTick(live);
  const scrolled = useScroll(route);
  const now = live.current;
  if (now?.problem !== undefined) return <Unreadable run={run} why={now.problem} />;
  if (!now || now.at === 0)
    return (
      <main aria-busy="true">
        <h1>Run {line(run, 80)}</h1>
        <p>{now?.connection === "live" ? "Its log is empty: it has not begun yet." : "Reading the log…"}</p>
      </main>
    );
  const parts = { run, live: now, seen: now.seen, view: now.view, word: now.word, route };
  return (
    <>
      <main {...scrolled}>
        <Head {...parts} />
        {now.isLive && <Needs {...parts} />}
        {route.task ? (
          <TaskPage {...parts} task={route.task} />
        ) : (
          <>
            <Tabs {...parts} />
            <Tab {...parts} />
          </>
        )}
        <AllWords />
      </main>
      <Travel live={now} isOver={now.isOver} />
    </>
  );
}

function Unreadable({ run, why }: { readonly run: string; readonly why: string }) {
  return (
    <main>
      <h1>Run {line(run, 80)}</h1>
      <p role="alert">{harmless(why)}</p>
      <p>
        <a href="#/">All runs of this repository</a>
      </p>
    </main>
  );
}

function Tabs({ run, route }: PageParts) {
  const nav = useRef<HTMLElement>(null);
  // A phone has room for a few tabs: the open one is scrolled into sight, without moving the page.
  useEffect(() => {
    const box = nav.current!;
    const open = box.querySelector<HTMLElement>("[aria-current]");
    if (open) box.scrollLeft = open.offsetLeft - box.offsetLeft - (box.clientWidth - open.offsetWidth) / 2;
  }, [route.tab]);
  return (
    <nav class="tabs" ref={nav} aria-label="Views of the run">
      {TABS.map(([tab, name]) => (
        <a key={tab} href={addressOf({ run, tab })} aria-current={route.tab === tab ? "page" : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}

function Tab(parts: PageParts) {
  switch (parts.route.tab) {
    case "timeline":
      return <Timeline {...parts} />;
    case "tasks":
      return <TaskList {...parts} />;
    case "landing":
      return <Landing {...parts} />;
    case "health":
      return <Health {...parts} />;
    case "cost":
      return <Cost {...parts} />;
    case "log":
      return <Log {...parts} />;
    default:
      return <Graph {...parts} />;
  }
}

/** Another view begins at its top; only a list that was left for one of its tasks keeps its position. */
function useScroll({ tab, task }: Route) {
  const page = useRef<HTMLElement>(null);
  const before = useRef({ tab, task });
  const listAt = useRef(0);
  useLayoutEffect(() => {
    const { current: was } = before;
    before.current = { tab, task };
    if (!page.current || (was.tab === tab && was.task === task)) return;
    const view = page.current.querySelector<HTMLElement>(".tabs, .task");
    const start = view ? view.offsetTop - page.current.offsetTop : 0;
    const isBack = was.task !== undefined && task === undefined && was.tab === tab;
    page.current.scrollTop = isBack ? listAt.current : Math.min(page.current.scrollTop, start);
  }, [tab, task]);
  const onScroll = () => {
    // A shorter view scrolls by itself before it is drawn, which is not the list's position.
    if (task === undefined && page.current) listAt.current = page.current.scrollTop;
  };
  return { ref: page, onScroll };
}

/** Draws every second, so that elapsed times advance without events. */
function useTick(live: { readonly current: LiveRun | undefined }): void {
  useEffect(() => {
    const timer = setInterval(() => live.current?.drawSoon(), 1_000);
    return () => clearInterval(timer);
  }, [live]);
}

function Head({ view, word, live, run }: PageParts) {
  const { counts, spent, target, times } = view;
  const isOver = times.closedAt !== undefined;
  const machines = machinesLabel(machinesIn(view, word));
  const elapsed = duration(elapsedMs(view, live.look));
  return (
    <section class="head" aria-label="How the run stands">
      <h1>{line(view.goal, 200)}</h1>
      {!live.isLive && <p class="past">You are looking back, at the run as it was after event {live.at}.</p>}
      <div class="facts">
        {live.isLive ? (
          <>
            <span class={`pill ${word === "stopped" ? "paused" : view.is}`}>{runLabel(word)}</span>
            <span>{elapsed}</span>
          </>
        ) : (
          <span class="pill">as it was at {elapsed}</span>
        )}
        <span>
          {doneLabel(view)}
          {counts.failed > 0 && <b class="bad">, {counts.failed} failed</b>}
        </span>
        <span>cost: {[spentLabel(spent), ...budgetTexts(view, live.budget)].join("; ")}</span>
        <span class={target.health === "red" ? "bad" : ""}>
          <Word is="target">target branch</Word>: {healthLabel(view)}
        </span>
        {machines !== "" && <span>machines: {line(machines, 300)}</span>}
        {live.connection === "lost" && <span class="bad">connection lost; trying again</span>}
      </div>
      {live.isLive &&
        delaysOf(view).map(({ what, until }) => (
          <p class="bad">
            {line(what, 300)}
            {until !== undefined && ` until ${time(until)}, for another ${duration(until - Date.now())}`}
          </p>
        ))}
      <progress max={Math.max(1, counts.total)} value={counts.done} aria-label="Tasks done">
        {counts.done} of {counts.total}
      </progress>
      {live.isLive && !isOver && <Steer run={run} canResume={canResume(view)} />}
    </section>
  );
}

function Steer({ run, canResume: isHeld }: { readonly run: string; readonly canResume: boolean }) {
  const [said, setSaid] = useState("");
  const [note, setNote] = useState<string | undefined>();
  const send = async (body: Record<string, unknown>, done: string) =>
    setNote((await command(run, body)) ?? done);
  return (
    <form
      class="row wrap steer"
      onSubmit={(event) => {
        event.preventDefault();
        void send({ type: "steer", message: said }, "Told the planner.").then(() => setSaid(""));
      }}
    >
      <button
        type="button"
        onClick={() =>
          void send(
            { type: isHeld ? "resume" : "pause" },
            isHeld ? "Resumed." : "Paused: nothing new starts.",
          )
        }
      >
        {isHeld ? "Resume" : "Pause"}
      </button>
      <input
        aria-label="Message to the planner"
        placeholder="Tell the planner something"
        value={said}
        onInput={(event) => setSaid(event.currentTarget.value)}
      />
      <button type="submit">Steer</button>
      <button
        type="button"
        class="danger"
        onClick={() => {
          if (confirm("Cancel the whole run? What has landed stays."))
            void send({ type: "cancel" }, "Cancelling.");
        }}
      >
        Cancel run
      </button>
      <output>{note && harmless(note)}</output>
    </form>
  );
}

function Travel({ live, isOver }: { readonly live: LiveRun; readonly isOver: boolean }) {
  const { length } = live.events;
  const event = live.events[live.at - 1];
  return (
    <section class="travel" aria-label="Time travel">
      <button type="button" aria-pressed={live.isLive} onClick={() => live.travel(undefined)}>
        {isOver ? "Jump to the end" : live.isLive ? "Live" : "Back to now"}
      </button>
      <input
        type="range"
        aria-label="Event that is shown"
        min={1}
        max={Math.max(1, length)}
        value={live.at}
        onInput={({ currentTarget: { valueAsNumber: to } }) =>
          live.travel(to >= live.events.length ? undefined : to)
        }
      />
      <span class="quiet">
        event {live.at} of {length} {event?.type}
      </span>
    </section>
  );
}
