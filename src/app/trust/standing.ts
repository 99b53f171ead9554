/** Puts together what a repository asks for, and finds what of it is not agreed to. */

import { isDetected } from "../../config/asks.ts";
import type { ReadSettings } from "../../config/read.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { ExecutionPlan } from "../../planning/plan.ts";
import {
  type Agrees,
  agreesTo,
  askId,
  hashOf,
  type TrustAsk,
  type TrustParts,
  type Untrusted,
} from "../../ports/trust.ts";
import { wordsToAgree } from "../../text/asked-words.ts";

/** `asks`: the canonical set; `unagreed`: the part of it that is not agreed to. */
export type TrustStanding = {
  readonly asks: readonly TrustAsk[];
  readonly unagreed: readonly TrustAsk[];
  readonly hash: string;
  /** Whether an ask, also one that is read later, was agreed to or is the gate that detection finds. */
  readonly agrees: Agrees;
};

/** `settings`: skein.yaml as read without any agreement, if it can be read. `plans`: what its plan files ask for. */
export async function standingOf(
  { project, store, gitAsks }: Untrusted,
  settings: Pick<ReadSettings, "asks"> & { readonly prompts?: string | undefined },
  plans: readonly TrustAsk[],
  { fileAsks, detected }: Pick<TrustParts, "fileAsks" | "detected">,
): Promise<TrustStanding | Failed> {
  const { located } = project;
  const said = [...settings.asks, ...plans];
  const isGated = said.some(({ is, name }) => is === "criterion" || name === "gate");
  const [ids, files, gate] = await Promise.all([
    store.agreed(),
    fileAsks(located.top, settings.prompts),
    isGated ? detected({ located, gitAsks }) : [],
  ]);
  if (hasFailed(ids)) return ids;
  const agreed = agreesTo(ids);
  const agrees: Agrees = (ask) => agreed(ask) || isDetected(ask, gate);
  const asked = said.filter((ask) => !isDetected(ask, gate));
  const asks = [...new Map([...gitAsks, ...asked, ...files].map((ask) => [askId(ask), ask])).values()];
  return { asks, unagreed: asks.filter((ask) => !agreed(ask)), hash: hashOf(asks), agrees };
}

/** What a plan file of the repository asks for: each command by which a task is judged. */
export const planAsks = (plan: Pick<ExecutionPlan, "tasks">, from: string): readonly TrustAsk[] =>
  plan.tasks.flatMap(({ success_criterion: run }) =>
    run === undefined
      ? []
      : [
          {
            ...{ is: "criterion", from, name: "criterion", value: run },
            words: `a task is judged by ${wordsToAgree(run)}`,
          },
        ],
  );
