/** Lists the settings in force and the source of each, as they would be written, without secrets. */
import { describeKeys, type ReadConfig, toSettings } from "../../../config/index.ts";
import { looksSecret, redactFields, redactor, secretsOf } from "../../../text/redact.ts";

export type Setting = {
  readonly key: string;
  /** Null: not set, and without a default. */
  readonly value: unknown;
  readonly origin: string;
  readonly variable: string;
};

export function settingsOf({ config, origins }: ReadConfig): readonly Setting[] {
  const settings = toSettings(config);
  return describeKeys().map(({ key, variable, default: usual = null }) => {
    const origin = origins[key] ?? "default";
    // A default is shown as documented: 8MB, and no planner although the agent plans.
    const value = origin === "default" ? usual : withoutSecretWords(valueAt(settings, PLACES[key] ?? key));
    return { key, value, origin, variable };
  });
}

/** `model` is another way to set the agent. */
const PLACES: Readonly<Record<string, string>> = { model: "agent" };

const valueAt = (settings: unknown, key: string): unknown =>
  key.split(".").reduce<unknown>((at, part) => Object(at)[part], settings);

/** Hides the words of a command line that follow a flag such as --api-key. */
export function withoutSecretWords(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map((word, i) => {
      if (typeof word !== "string") return withoutSecretWords(word);
      if (isSecretFlag(value[i - 1])) return BLOTTED;
      const [flag = ""] = word.split("=", 1);
      return word.length > flag.length && isSecretFlag(flag) ? `${flag}=${BLOTTED}` : word;
    });
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutSecretWords(inner)]));
}

const BLOTTED = "[redacted]";
const isSecretFlag = (word: unknown) =>
  typeof word === "string" && /^--?\w[^=]*$/.test(word) && looksSecret(word);

/** Redacts every text in a value; numbers and keys stay, so that programs can still read it. */
export function redactorOf(
  env: Readonly<Record<string, string | undefined>>,
  pass: readonly string[],
): <Value>(value: Value) => Value {
  // A variable that the user passes on by name may be secret, whatever its name.
  const passed = pass.flatMap((name) => (env[name] === undefined ? [] : [env[name]]));
  // Its name looks secret, but it contains only names.
  const { SKEIN_WORKSPACE_PASS: _, ...others } = env;
  const redact = redactor([...secretsOf(others), ...passed]);
  return (value) => redactFields(value, redact);
}

/** The value as written in skein.yaml, on one line. */
export function valueText(value: unknown): string {
  if (value === null) return "not set";
  if (typeof value === "string") return value;
  const { command = value, kind, ...rest } = Object(value) as Readonly<Record<string, unknown>>;
  // A known model without further settings.
  if (kind === "model" && Object.keys(rest).every((key) => key === "provider" || key === "model"))
    return `${rest["provider"]}/${rest["model"]}`;
  return JSON.stringify(command);
}
