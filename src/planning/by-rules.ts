/** What plan do the rules make of a request? No network, no model: the same words and facts give the same plan. */

import type { PlanningData } from "./data.ts";
import type { RepositoryFacts } from "./facts.ts";
import { outputNames } from "./files/output-name.ts";
import {
  type ExecutionPlan,
  PLAN_FORMAT,
  type PlanTask,
  type Question,
  SCRATCHPAD,
  type Score,
} from "./plan.ts";
import { readRequest } from "./reading/read-request.ts";
import type { Clause, Reading } from "./reading.ts";
import { answered, blockingQuestion, minorQuestions } from "./rules/ambiguity.ts";
import { type AgentRow, chooserOf } from "./rules/choose-agent.ts";
import { draftsOf, type Surroundings } from "./rules/clause-drafts.ts";
import { contextOf } from "./rules/context.ts";
import { criteriaOf } from "./rules/criteria.ts";
import { deepened } from "./rules/deepen.ts";
import { dependenciesOf } from "./rules/dependencies.ts";
import type { Draft } from "./rules/draft.ts";
import { folded } from "./rules/fold.ts";
import { treeOf } from "./rules/paths.ts";
import { ORDERING, risksOf } from "./rules/risks.ts";
import { scoreOf } from "./rules/score.ts";
import { verified } from "./rules/verification.ts";
import { activeFormOf, counted, plainLine, shortened } from "./rules/wording.ts";
import { isComplaint, isQuestion } from "./rules/work.ts";
import { saysToWrite } from "./says-to-write.ts";
import { wavesOf } from "./waves.ts";

export type PlanAround = {
  readonly facts: RepositoryFacts;
  readonly data: PlanningData;
  readonly agents: readonly AgentRow[];
  readonly maxConcurrent: number;
  /** Put before the names of agents. */
  readonly prefix?: string;
  /** To questions of an earlier plan of the same request, by their ids. */
  readonly answers?: ReadonlyMap<string, string>;
};

/**
 * Never throws. A question that blocks stays in the plan until it is answered; what the plan holds until then is made
 * from the default.
 */
export function planByRules(request: string, around: PlanAround): ExecutionPlan {
  const { words, limits } = around.data;
  const answers = around.answers ?? new Map<string, string>();
  const { reading: read, blocking, goal, text } = readingOf(request, around);
  const score = tiered(scoreOf(read, words), limits);
  const reading = { ...read, clauses: folded(read.clauses) };
  const tree = treeOf(around.facts);
  const minor = minorQuestions({ reading, facts: around.facts, tree });
  const all = blocking ? [blocking, ...minor] : minor;
  // What has a default that is good enough is said as an assumption, and asked of nobody.
  const questions = all.filter(({ id, blocking: blocks }) => blocks && !answers.has(id));
  const surroundings: Surroundings = {
    request: text.slice(0, MAX_REQUEST_CHARS),
    clauses: reading.clauses,
    facts: around.facts,
    tree,
    words,
    limits,
    agents: Math.max(1, around.maxConcurrent),
    minDepth: score.min_depth,
    chosen: chosenBy(all, answers),
    constraints: reading.constraints.map((constraint) => `Holds for all of it: ${plainLine(constraint)}.`),
  };
  const drafted = draftedFrom(reading, surroundings);
  const { tasks, waves } = tasksOf(drafted.drafts, reading, around);
  return {
    skein_plan: PLAN_FORMAT,
    goal: shortened(plainLine(goal.slice(0, 1_000)), MAX_GOAL_CHARS),
    planner: "rules",
    max_concurrent: Math.max(1, around.maxConcurrent),
    score,
    success_criteria: criteriaOf(reading, drafted.drafts, surroundings),
    assumptions: [...drafted.assumptions, ...assumptionsFrom(all, answers), ...aboutVerbs(reading)],
    questions,
    context: contextOf(reading, drafted.drafts, { facts: around.facts, limits }),
    tasks,
    risks: [
      ...drafted.risks,
      ...risksOf({ reading, drafts: drafted.drafts, around: surroundings, score, waves }),
    ],
  };
}

const MAX_GOAL_CHARS = 300;
/** More than any task is told of it. */
const MAX_REQUEST_CHARS = 5_000;

type Understood = {
  readonly reading: Reading;
  readonly blocking: Question | undefined;
  readonly goal: string;
  /** What was read, as it was written. */
  readonly text: string;
};

/** With the answer to what it means in its place, or the default. */
function readingOf(request: string, { data, answers, facts }: PlanAround): Understood {
  const reading = readRequest(request, data.words);
  const blocking = blockingQuestion(reading, facts);
  const [first] = reading.clauses;
  const given = blocking === undefined ? "" : plainLine(answers?.get(blocking.id) ?? "");
  const goal = goalOf(request, reading);
  if (blocking === undefined || (first === undefined && given === ""))
    return { reading, blocking, goal, text: request };
  const text = answered(request, first, given || blocking.default, data.words);
  const meant = readRequest(text, data.words);
  // What was asked stays the goal as long as nobody has said what it means.
  return { reading: meant, blocking, goal: given === "" ? goal : goalOf(text, meant), text };
}

/** One sentence, if there is one; what was pasted is none. */
const goalOf = (request: string, { text }: Reading) => (text === "" ? request : text);

function tiered(score: Score, { tier2From, tier3Above }: PlanningData["limits"]): Score {
  const tier = score.total > tier3Above ? 3 : score.total >= tier2From ? 2 : 1;
  return { ...score, tier, min_depth: tier };
}

function chosenBy(
  questions: readonly Question[],
  answers: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const files = questions.filter(({ id }) => id.startsWith("file:"));
  return new Map(files.map(({ id, default: first }) => [id.slice("file:".length), answers.get(id) ?? first]));
}

type DraftedAll = {
  readonly drafts: readonly Draft[];
  readonly assumptions: readonly string[];
  readonly risks: readonly string[];
};

function draftedFrom(reading: Reading, around: Surroundings): DraftedAll {
  const drafted = reading.clauses.map((clause, index) =>
    isNoWork(clause) ? leftOut(clause) : draftsOf(clause, index, around),
  );
  const parts = drafted.flatMap(({ drafts }) => drafts);
  const { maxTasks } = around.limits;
  const kept = parts.slice(0, maxTasks);
  const more = parts.length - kept.length + reading.partsLeftOut;
  const risks =
    more === 0
      ? []
      : [`${more} more tasks than a plan holds were left out: make a plan of the rest after this one.`];
  return {
    drafts: verified(deepened(kept, around), around),
    assumptions: drafted.flatMap(({ assumptions }) => assumptions),
    risks: [...drafted.flatMap((one) => one.risks), ...risks],
  };
}

/** Words to the agents are no work: nobody is put to it. */
const isNoWork = ({ text }: Clause) => ORDERING.test(text.slice(0, MAX_GOAL_CHARS));

const leftOut = ({ text }: Clause): DraftedAll => ({
  drafts: [],
  assumptions: [`Left out, because it asks for no work: ${JSON.stringify(shortened(plainLine(text), 80))}.`],
  risks: [],
});

function tasksOf(
  drafts: readonly Draft[],
  reading: Reading,
  around: PlanAround,
): { readonly tasks: readonly PlanTask[]; readonly waves: number } {
  const choose = chooserOf(around.agents, around.prefix);
  const before = dependenciesOf(drafts, reading.clauses);
  const ids = new Map(drafts.map(({ key }, at) => [key, String(at + 1)]));
  const blockedBy = drafts.map(({ key }) => before.get(key)!.map((one) => ids.get(one)!));
  const found = wavesOf(drafts.map(({ key }, at) => ({ id: ids.get(key)!, blockedBy: blockedBy[at]! })));
  const waveOf = (id: string) => (found.is === "waves" ? found.byId.get(id)! : 0);
  const inWave = Map.groupBy(ids.values(), waveOf);
  const chosen = drafts.map(choose);
  const outputs = outputNames(drafts.map(({ subject }) => subject));
  const tasks = drafts.map((draft, at): PlanTask => {
    const id = ids.get(draft.key)!;
    const { agent, hasOutput } = chosen[at]!;
    // Who only reads must not be told to write, be it in the words of the request.
    const { background = [] } = draft;
    const told = hasOutput || !saysToWrite(background.join(" ")) ? background : [];
    return {
      id,
      subject: draft.subject,
      description: [draft.description, ...told].join(" "),
      activeForm: activeFormOf(draft.subject, draft.isImperative),
      blockedBy: blockedBy[at]!,
      scope: draft.scope,
      reads: draft.reads,
      delivers: draft.delivers,
      requirements: [...draft.requirements, ...(told.length === 0 ? background : [])],
      ...(draft.criterion === undefined ? {} : { success_criterion: draft.criterion }),
      metadata: {
        wave: waveOf(id),
        phase_id: id,
        agent,
        parallel: inWave.get(waveOf(id))!.length > 1,
        ...(hasOutput ? { output_file: `${SCRATCHPAD}/${outputs[at]!}` } : {}),
        depth: draft.depth,
        parent_id: parentOf(draft),
      },
    };
  });
  return { tasks, waves: found.is === "waves" ? found.count : 0 };
}

/** The request is split into clauses and these into parts: as many steps up as it is deep, as far as there are any. */
function parentOf({ clause, key, depth }: Draft): string {
  const above = clause === undefined ? [] : key.split(".").slice(0, depth - 1);
  return ["root", ...above].join(".");
}

/** Defaults that were taken, and answers that were given. */
function assumptionsFrom(
  questions: readonly Question[],
  answers: ReadonlyMap<string, string>,
): readonly string[] {
  return questions
    .filter(({ blocking, id }) => !blocking || answers.has(id))
    .map(({ id, question, default: fallback }) => {
      const asked = question.slice(0, question.lastIndexOf(" (Default: "));
      return `${asked} Taken: ${plainLine(answers.get(id) ?? fallback)}.`;
    });
}

/** "A new page" can be read as something to make; other words only be handed on. */
function aboutVerbs({ clauses }: Reading): readonly string[] {
  const without = clauses.filter(
    ({ verb, text }) =>
      verb === undefined &&
      !/^(?:an?|the|new|better)\s/i.test(text) &&
      !isQuestion(text) &&
      !isComplaint(text),
  );
  if (without.length === 0) return [];
  const where =
    clauses.length === 1
      ? "the request"
      : counted(without.length, "part of the request", "parts of the request");
  return [`No verb was recognised in ${where}: the words are handed on as they are, as something to make.`];
}
