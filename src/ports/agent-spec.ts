/** Type of an agent's specification, as it is configured, found, and kept in a run's record. */
import type { ModelSpec } from "../core/model-spec.ts";

export type AgentSpec =
  /** A program of the user: it gets a brief, and its answer is read. */
  | { readonly kind: "command"; readonly command: readonly [string, ...string[]] }
  | { readonly kind: "scripted"; readonly script: string }
  /** Skein's own agent on a model; the fallbacks are called while the model's quota is used up. */
  | { readonly kind: "model"; readonly model: ModelSpec; readonly fallbacks: readonly ModelSpec[] }
  /** A program that speaks the Agent Client Protocol; `name`: what people call it. */
  | { readonly kind: "acp"; readonly name: string; readonly command: readonly [string, ...string[]] };
