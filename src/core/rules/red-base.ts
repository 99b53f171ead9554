/** Decides what happens to a run whose base fails its gate before any agent was paid. */
import { type BaseLook, baseLookOf, withEarlier } from "../base-look.ts";
import { baseLookLines, baseLookTitle } from "../base-look-words.ts";
import { failure } from "../failure.ts";
import type { Outcome } from "../job.ts";
import type { Fact, RepairOffer } from "../log/event.ts";
import type { RunState } from "../log/state.ts";
import { BASE_QUESTION } from "../subtask.ts";
import type { Now } from "./consequences.ts";
import { refused } from "./decide-command.ts";
import { ON_RED_BASE, type OnRedBase, type Policy } from "./policy.ts";

/** Describes what failed in both checks of the base, if they differ. */
export function lookedAt(
  state: RunState,
  outcome: Outcome & { readonly is: "checked" },
): BaseLook | undefined {
  const now = outcome.look ?? baseLookOf(outcome);
  const isAgain = state.target.checkedTip === outcome.tip;
  return now && withEarlier(now, isAgain ? state.target.look : undefined);
}

/** `offer`: the fix tasks that a repair would begin with. */
export function baseFailed(
  { policy, at }: Pick<Now, "policy" | "at">,
  look: BaseLook,
  offer: readonly RepairOffer[],
): readonly Fact[] {
  const unasked = unattended(look);
  const choice = policy.onRedBase ?? unasked;
  if (choice !== "ask") return [{ type: "base.failed", look, choice }, ...following(choice, look, offer)];
  const asked = {
    text: questionText(look, offer, policy),
    default: unasked,
    until: at + policy.questions.waitMs,
    offer,
  };
  return [{ type: "base.failed", look, choice, asked }];
}

/** The choice if no person is asked. If nothing ran, a fix could not be told from a change that makes it worse. */
export const unattended = ({ class: kind }: BaseLook): OnRedBase => (kind === "unjudged" ? "stop" : "repair");

function following(choice: OnRedBase, look: BaseLook, offer: readonly RepairOffer[]): readonly Fact[] {
  if (choice === "repair") return offer;
  return choice === "stop" ? [{ type: "setup.failed", failure: stopped(look) }] : [];
}

function stopped(look: BaseLook) {
  const why = [`${baseLookTitle(look)}; no agent was started`, ...baseLookLines(look)].join("\n");
  return failure(
    "setup",
    why,
    "name another gate in skein.yaml; or add --set onRedBase=repair, so that agents repair it first, or " +
      "onRedBase=continue, so that they work beside it (or repair the base yourself, commit, and start another run)",
  );
}

export const isBaseQuestion = ({ redBase }: RunState, question: string): boolean =>
  question === BASE_QUESTION && redBase?.choice === "ask";

export function answerBase(state: RunState, text: string): readonly Fact[] {
  const said = text.trim().toLowerCase();
  const choice = ON_RED_BASE.find((one) => one === said);
  return choice
    ? answered(state, choice, "person")
    : [refused(`answer ${BASE_QUESTION}`, `the answer is one of: ${ON_RED_BASE.join(", ")}`)];
}

export function baseByDefault(state: RunState): readonly Fact[] {
  const asked = state.questions.get(BASE_QUESTION);
  const choice = ON_RED_BASE.find((one) => one === asked?.default);
  return choice ? answered(state, choice, "default") : [];
}

function answered(state: RunState, choice: OnRedBase, by: "person" | "default"): readonly Fact[] {
  const { redBase, target } = state;
  const look = target.look ?? baseLookOf({ report: target.report, problems: [] });
  if (!redBase || !look) return [];
  return [{ type: "base.answered", choice, by }, ...following(choice, look, redBase.offer)];
}

/** Says what each answer does, and what a repair may cost at most. */
function questionText(look: BaseLook, offer: readonly RepairOffer[], policy: Policy): string {
  return [
    `${baseLookTitle(look)}: repair, continue or stop?`,
    ...baseLookLines(look),
    `repair: agents repair it first, one round for each kind of failure; ${repairCost(offer, policy)}.`,
    "continue: agents work on your goal; what makes nothing worse lands, and a failing target is not delivered.",
    "stop: nothing is started, and nothing is spent (exit code 3).",
  ].join("\n");
}

/** The limits give the price: without a budget, the price of an agent's attempt is unknown. */
function repairCost(offer: readonly RepairOffer[], { repair, retry, budget }: Policy): string {
  const made = offer.flatMap((fact) => (fact.type === "repair.planned" ? fact.into : [])).length;
  const tasks = made === 0 ? repair.maxTasks : made;
  const attempts = retry.maxFailed + retry.maxRefused;
  const size = `at most ${tasks} ${tasks === 1 ? "fix task" : "fix tasks"} in its first round, with ${attempts} attempts each`;
  const all = limitText(tasks, budget.task ?? {}) ?? limitText(1, budget);
  return all === undefined ? `${size}, of unknown price: no budget is set` : `${size}, for at most ${all}`;
}

function limitText(times: number, limit: Policy["budget"]["task"] & object): string | undefined {
  const { maxMicrodollars, maxTokens } = limit;
  if (maxMicrodollars !== undefined) return `$${((times * maxMicrodollars) / 1e6).toFixed(2)}`;
  return maxTokens === undefined ? undefined : `${times * maxTokens} tokens`;
}
