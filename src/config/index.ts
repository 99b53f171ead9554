/**
 * What is configured, and how is it kept? The one door to the configuration. It loads the schema library and the
 * YAML reader, some 150 ms: commands that need no configuration import it late or only for its types.
 */

export { describeKeys } from "./keys.ts";
export { MODELS_AS_OF } from "./known-providers.ts";
export { type ConfigProblem, problemText } from "./problem.ts";
export { defaultConfig, type ReadConfig, type ReadSettings, readConfig } from "./read.ts";
export { type Config, jsonSchema } from "./schema.ts";
export { asBegun, fromSettings, toSettings } from "./settings.ts";
export { starterText } from "./starter.ts";
export { toPolicy } from "./to-policy.ts";
