/**
 * The only entry to the configuration: reads, keeps and describes it. Loading it takes about 150 ms (schema library and
 * YAML reader), so commands that need no configuration import it late or only for its types.
 */

export { describeKeys } from "./keys.ts";
export { MODELS_AS_OF } from "./known-providers.ts";
export { type ConfigProblem, problemText } from "./problem.ts";
export { defaultConfig, type ReadConfig, type ReadSettings, readConfig } from "./read.ts";
export { type Config, jsonSchema } from "./schema.ts";
export { asBegun, fromSettings, toSettings } from "./settings.ts";
export { starterText } from "./starter.ts";
export { toPolicy } from "./to-policy.ts";
