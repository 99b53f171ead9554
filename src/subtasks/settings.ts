/** Derives a task's context settings from what its request, its template and its group say. */
import * as z from "zod";
import type { ContextSettings } from "../ports/subtasks.ts";

/** The settings as written; a missing one is derived, or has its default. */
export type ContextManagement = {
  readonly inherit_context?: ContextSettings["inherit_context"] | undefined;
  /** XML has the words "true" and "false". */
  readonly accumulate_data?: boolean | "true" | "false" | undefined;
  readonly accumulation_format?: ContextSettings["accumulation_format"] | undefined;
  readonly fresh_context?: ContextSettings["fresh_context"] | undefined;
};

export const contextManagementSchema = z.strictObject({
  inherit_context: z.enum(["full", "none", "subset"]).optional(),
  accumulate_data: z.union([z.boolean(), z.enum(["true", "false"])]).optional(),
  accumulation_format: z.enum(["notes_only", "full_output"]).optional(),
  fresh_context: z.enum(["enabled", "disabled"]).optional(),
});

export const DEFAULT_SETTINGS: ContextSettings = {
  inherit_context: "none",
  accumulate_data: false,
  accumulation_format: "notes_only",
  fresh_context: "enabled",
};

export const EXCLUSIVITY_RULE =
  'fresh_context "enabled" needs inherit_context "none": what is inherited and what is found anew are never mixed';

export type SettledContext =
  | { readonly settings: ContextSettings; readonly warnings: readonly string[] }
  | { readonly problem: string };

/** The nearest layer comes first: the request, the template, then the group (sequence, map or loop) of the task. */
export function settingsOf(layers: readonly (ContextManagement | undefined)[]): SettledContext {
  const said = mergeLayers(layers);
  const { inherit_context: inherit, fresh_context: fresh } = said;
  if (fresh === "enabled" && inherit !== undefined && inherit !== "none")
    return { problem: `${EXCLUSIVITY_RULE}. Here both are given: "enabled" and "${inherit}"` };
  const settings: ContextSettings = {
    inherit_context: inherit ?? DEFAULT_SETTINGS.inherit_context,
    accumulate_data: isTrue(said.accumulate_data) ?? DEFAULT_SETTINGS.accumulate_data,
    accumulation_format: said.accumulation_format ?? DEFAULT_SETTINGS.accumulation_format,
    fresh_context: fresh ?? (inherit === undefined || inherit === "none" ? "enabled" : "disabled"),
  };
  return { settings, warnings: isMinimal(settings) ? [MINIMAL] : [] };
}

export function mergeLayers(layers: readonly (ContextManagement | undefined)[]): ContextManagement {
  const first = <K extends keyof ContextManagement>(key: K): ContextManagement[K] =>
    layers.find((layer) => layer?.[key] !== undefined)?.[key];
  return {
    inherit_context: first("inherit_context"),
    accumulate_data: first("accumulate_data"),
    accumulation_format: first("accumulation_format"),
    fresh_context: first("fresh_context"),
  };
}

const isTrue = (value: ContextManagement["accumulate_data"]) =>
  value === undefined ? undefined : value === true || value === "true";

const isMinimal = ({ inherit_context, accumulate_data, fresh_context }: ContextSettings) =>
  inherit_context === "none" && !accumulate_data && fresh_context === "disabled";

const MINIMAL = "the task sees nothing but its inputs: it inherits, accumulates and looks for no context";
