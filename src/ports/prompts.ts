/** Names and texts of the prompts for agents' roles, which a team can replace without touching code. */

export type PromptName = "root-planner" | "subplanner" | "worker" | "execution-planner" | "subtask";

/** Read once, when a run starts, so that an agent cannot change them for the run. */
export type Prompts = Readonly<Record<PromptName, string>>;
