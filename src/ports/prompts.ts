/** What are agents told about their role? Texts that a team can replace without touching code. */

export type PromptName = "root-planner" | "subplanner" | "worker" | "execution-planner" | "subtask";

/** Read once, when a run starts: what an agent changes later changes nothing. */
export type Prompts = Readonly<Record<PromptName, string>>;
