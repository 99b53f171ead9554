/** Which agent is meant? As it is configured, found, and kept in the record of a run. */
import type { ModelSpec } from "../core/model-spec.ts";

export type AgentSpec =
  /** A program of the user's own: it gets a brief, and its answer is read. */
  | { readonly kind: "command"; readonly command: readonly [string, ...string[]] }
  | { readonly kind: "scripted"; readonly script: string }
  /** Skein's own agent on a model; the fallbacks are called while the model's quota is used up. */
  | { readonly kind: "model"; readonly model: ModelSpec; readonly fallbacks: readonly ModelSpec[] }
  /** A program that speaks the Agent Client Protocol; `name` is what people call it. */
  | { readonly kind: "acp"; readonly name: string; readonly command: readonly [string, ...string[]] };
