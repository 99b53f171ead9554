/** Makes a plan of a request by rules, without network or model: equal requests and facts give equal plans. */
import { scoreOf } from "../core/rules/score.ts";
import { type AgentRow, chooserOf } from "./choose-agent.ts";
import { contextOf } from "./context.ts";
import type { PlanningData } from "./data.ts";
import { asTold, describePart, MAX_REQUEST_CHARS } from "./description.ts";
import type { RepositoryFacts } from "./facts.ts";
import { outputNames } from "./files/output-name.ts";
import { readsIn, scopeIn, type Tree, treeOf } from "./paths.ts";
import { hasWord, visible } from "./plain.ts";
import { type ExecutionPlan, PLAN_FORMAT, type PlanTask, type Question, SCRATCHPAD } from "./plan.ts";
import { questionOf } from "./question.ts";
import { risksOf } from "./risks.ts";
import { also } from "./shapes/also.ts";
import { apart } from "./shapes/apart.ts";
import { clauses } from "./shapes/clauses.ts";
import { each } from "./shapes/each.ts";
import { features } from "./shapes/features.ts";
import { sharedOut } from "./shapes/files.ts";
import {
  isReport,
  type Kind,
  kindOf,
  type Lexicon,
  lexiconOf,
  type Order,
  orderIn,
} from "./shapes/lexicon.ts";
import { limitAlone } from "./shapes/limits.ts";
import { listed } from "./shapes/listed.ts";
import { ordered } from "./shapes/ordered.ts";
import { placed } from "./shapes/placed.ts";
import { isOfTheWork, REVIEW, reviewed } from "./shapes/reviewed.ts";
import type { Part, RequestShape, ShapeAround, Shaped } from "./shapes/shape.ts";
import { joined, linesOf, sentencesOf } from "./shapes/text.ts";
import { titleOf } from "./title.ts";
import { type Draft, turnsOf } from "./turns.ts";
import { wavesOf } from "./waves.ts";
import { activeFormOf, plainLine, shortened } from "./wording.ts";

export type PlanAround = {
  readonly facts: RepositoryFacts;
  readonly data: PlanningData;
  readonly agents: readonly AgentRow[];
  readonly maxConcurrent: number;
  readonly prefix?: string;
  /** Answers to questions of an earlier plan of the same request, by the questions' ids. */
  readonly answers?: ReadonlyMap<string, string>;
};

/** The first shape that fits without losing a sentence is taken. */
const BASIC: readonly RequestShape[] = [
  listed,
  each,
  ordered,
  clauses,
  features,
  sharedOut,
  placed,
  also,
  apart,
];
const SHAPES: readonly RequestShape[] = [
  reviewed((request, around) => firstOf(BASIC, request, around)),
  ...BASIC,
];

/**
 * Never throws. A request without one of the shapes becomes one task with the request's own words. A blocking question
 * stays in the plan until it is answered; until then the plan is made with the question's default.
 */
export function planByRules(written: string, around: PlanAround): ExecutionPlan {
  const { facts, data } = around;
  const request = visible(written).trim();
  const lexicon = lexiconOf(data.words);
  const tree = treeOf(facts);
  const maxConcurrent = Math.max(1, around.maxConcurrent);
  const question = questionOf(request, data.words, facts);
  const shape = shapeOf(request, { facts, maxConcurrent, tree, lexicon, limits: data.limits });
  const planned = shape?.shared.filter(isOfPlan) ?? [];
  const drafts = hasWord(request) ? draftsOf(request, shape, { lexicon, tree, question, around }) : [];
  const tasks = tasksOf(drafts, around);
  const score = scoreOf(request, data.limits);
  const isOpen = question !== undefined && !around.answers?.has(question.id);
  return {
    skein_plan: PLAN_FORMAT,
    goal: shortened(plainLine(request.slice(0, 1_000)), MAX_GOAL_CHARS),
    planner: "rules",
    max_concurrent: maxConcurrent,
    score,
    success_criteria: criteriaOf(tasks, facts),
    assumptions: [
      ...(shape?.assumptions ?? []),
      ...planned.map((sentence) => `Said of the plan: ${plainLine(sentence)}`),
      ...(question && !isOpen ? [taken(question, around.answers)] : []),
      ...asTold(request).left,
    ],
    questions: isOpen ? [question] : [],
    context: contextOf(request, tasks, around),
    tasks,
    risks: risksOf(tasks, facts, score, data.limits.maxTasksUnsaid),
  };
}

const MAX_GOAL_CHARS = 300;

const shapeOf: RequestShape = (request, around) => firstOf(SHAPES, request, around);

function firstOf(shapes: readonly RequestShape[], request: string, around: ShapeAround): Shaped | undefined {
  for (const shape of shapes) {
    const found = shape(request, around);
    if (found === undefined || found.parts.length > around.limits.maxTasks) continue;
    if (isShort(found) && lostIn(request, found).length === 0) return found;
  }
  return undefined;
}

/** A plan file allows 10,000 characters per requirement. */
const MAX_SHARED_CHARS = 8_000;

/** True if the shared sentences and the longest part fit into one task together. */
function isShort({ parts, shared }: Shaped): boolean {
  const common = shared.reduce((sum, sentence) => sum + sentence.length, 0);
  const own = Math.max(...parts.map(({ words, says = "" }) => words.length + says.length));
  return common <= MAX_SHARED_CHARS && common + own <= MAX_REQUEST_CHARS;
}

type Drafting = {
  readonly lexicon: Lexicon;
  readonly tree: Tree;
  readonly question: Question | undefined;
  readonly around: PlanAround;
};

function draftsOf(request: string, shape: Shaped | undefined, drafting: Drafting): readonly Draft[] {
  if (shape === undefined) return [whole(request, drafting)];
  const { lexicon, tree, around } = drafting;
  const max = around.data.limits.maxContextFiles;
  const { inPlace } = lexicon.words.files;
  const shared = shape.shared.filter((sentence) => !isOfPlan(sentence));
  const drafts = shape.parts.map((part): Draft => {
    const { subject, words, files, after } = part;
    const order = orderIn(subject, lexicon);
    const own = part.text ?? words;
    const isRead = part.isReport ?? isReport(own, lexicon, after.length > 0);
    const byVerb = inPlace.includes(order?.verb.toLowerCase() ?? "");
    const isInPlace = files !== undefined && (part.isInPlace ?? byVerb);
    const named = isInPlace ? [] : (files ?? readsIn(own, tree, max));
    // Parts of one thing have the same words, so quoted names do not tell them apart.
    const quoted = part.says !== undefined && part.text === undefined ? [] : (own.match(QUOTED) ?? []);
    const others = shape.parts.filter((other) => other !== part).map(({ words, text }) => text ?? words);
    const isOfWork = isOfTheWork(subject, others.join("\n"), tree);
    const told = isRead && isReview(order, part) && isOfWork ? { ...part, says: REVIEW } : part;
    return {
      subject,
      description: describePart(told, shared, request),
      words:
        part.text === undefined
          ? `${told.says ?? ""}\n${words}`
          : `${told.isReport ? told.says : ""}\n${own}`,
      scope: isRead ? [] : isInPlace ? files : scopeIn([own, ...shared].join("\n"), tree),
      reads: [...new Set([...named, ...(part.reads ?? [])])].slice(0, Math.max(max, named.length)),
      delivers: isRead ? "report" : "change",
      requirements: requirementsOf(shape, isRead, lexicon),
      isImperative: order !== undefined,
      after,
      isCollected: files !== undefined && shape.parts.some(({ after }) => after.length > 0),
      names: [...named, ...quoted],
    };
  });
  const turns = turnsOf(drafts);
  return drafts.map((draft, at) => ({ ...draft, after: turns[at]! }));
}

/** "Using 5 agents." is used when work is shared out; a single worker cannot follow it. */
const isOfPlan = (sentence: string): boolean => limitAlone(sentence)?.agents !== undefined;

const QUOTED = /`[^`\n]{1,100}`/g;

/** A review at the end is a review of the other tasks' work. */
const isReview = (order: Order | undefined, { after, says }: Part): boolean =>
  after.length > 0 && says === undefined && /^(?:review|audit)$/i.test(order?.verb ?? "");

/** An unclear sentence is only shared by a shape if it forbids something. */
const LIMITING: ReadonlySet<Kind> = new Set(["limit", "unclear"]);

function requirementsOf(shape: Shaped, isRead: boolean, lexicon: Lexicon): readonly string[] {
  const said = shape.shared.filter(
    (sentence) => !isOfPlan(sentence) && LIMITING.has(kindOf(sentence, lexicon)),
  );
  const limits = [...said, ...(shape.limits ?? [])].map(plainLine);
  return limits.length === 0 ? [] : [isRead ? REPORTED : DONE, ...limits];
}

function whole(request: string, { lexicon, tree, question, around }: Drafting): Draft {
  const { limits } = around.data;
  const isRead = isReport(request, lexicon);
  const subject = titleOf(request, lexicon, limits.maxSubjectChars);
  const answer = question && plainLine(around.answers?.get(question.id) || question.default);
  const told = asTold(request).text;
  return {
    subject,
    description: answer === undefined ? told : `${told}\n\nWhat is meant: ${answer}`,
    words: sentencesOf(request.slice(0, MAX_REQUEST_CHARS))[0] ?? request,
    scope: isRead ? [] : scopeIn(request, tree),
    reads: readsIn(request, tree, limits.maxContextFiles),
    delivers: isRead ? "report" : "change",
    requirements: [],
    isImperative: orderIn(subject, lexicon) !== undefined,
    after: [],
    isCollected: false,
    names: [],
  };
}

function tasksOf(drafts: readonly Draft[], { agents, prefix }: PlanAround): readonly PlanTask[] {
  const choose = chooserOf(agents, prefix);
  const idOf = (at: number) => String(at + 1);
  const waited = drafts.map(({ after }, at) => ({ id: idOf(at), blockedBy: after.map(idOf) }));
  const found = wavesOf(waited);
  const waveOf = (id: string) => (found.is === "waves" ? found.byId.get(id)! : 0);
  const inWave = Map.groupBy(waited, ({ id }) => waveOf(id));
  const outputs = outputNames(drafts.map(({ subject }) => subject));
  return drafts.map((draft, at): PlanTask => {
    const { id, blockedBy } = waited[at]!;
    const { agent, hasOutput } = choose(draft);
    const { subject, description, scope, reads, delivers, requirements, isImperative } = draft;
    return {
      ...{ id, subject, description, activeForm: activeFormOf(subject, isImperative), blockedBy },
      ...{ scope, reads: reads.filter((path) => !scope.includes(path)), delivers, requirements },
      metadata: {
        ...{ wave: waveOf(id), phase_id: id, agent, parallel: inWave.get(waveOf(id))!.length > 1 },
        ...(hasOutput ? { output_file: `${SCRATCHPAD}/${outputs[at]!}` } : {}),
        ...{ depth: 1, parent_id: "root" },
      },
    };
  });
}

const DONE = "All that is asked for is done, and shown by a test or a command.";
const REPORTED = "A report answers what is asked, with paths and lines.";

function criteriaOf(tasks: readonly PlanTask[], { testCommand }: RepositoryFacts): readonly string[] {
  if (tasks.length === 0) return [];
  const hasChange = tasks.some(({ delivers }) => delivers === "change");
  return [
    hasChange ? DONE : REPORTED,
    ...(hasChange && testCommand !== undefined ? [`\`${testCommand}\` passes.`] : []),
  ];
}

function taken({ id, question, default: usual }: Question, answers: PlanAround["answers"]): string {
  const asked = question.slice(0, question.lastIndexOf(" (Default: "));
  return `${asked} Taken: ${shortened(plainLine(answers?.get(id) || usual), MAX_SHARED_CHARS)}.`;
}

/** Sentences of the request that neither a part nor the shared sentences contain, as they were written. */
function lostIn(request: string, { parts, shared }: Pick<Shaped, "parts" | "shared">): readonly string[] {
  const held = [...new Set([...parts.map(({ words }) => words), ...shared])].map(joined);
  return piecesOf(request).filter((piece) => !held.some((text) => text.includes(piece)));
}

/** Splits line by line, so that no piece contains the mark of a list item. */
function piecesOf(request: string): readonly string[] {
  const lines = linesOf(request).map(({ text }) => text);
  return [...new Set(lines.flatMap(sentencesOf).map(joined).filter(hasWord))];
}
