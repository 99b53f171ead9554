/** Builds the environment of a program in a workspace: variables that it needs to run, and no secrets. */
import { looksSecret } from "../../text/redact.ts";
import { type GitSetting, settingVariables } from "../git/settings.ts";
import { SKEIN } from "./source.ts";

type EnvironmentOptions = {
  readonly from: Readonly<Record<string, string | undefined>>;
  /** Names of variables that the user passes on by choice, secret or not. */
  readonly pass: readonly string[];
  readonly temporary: string;
  /** The folder where git's upward search for a repository ends. */
  readonly ceiling: string;
  readonly person: { readonly name: string; readonly email: string };
  readonly settings: readonly GitSetting[];
  /** Set for the gate: passes on the terminal's variables about colours, since tests may look at them. */
  readonly isTerminal?: boolean;
};

export function environmentOf(options: EnvironmentOptions): Record<string, string> {
  const { from, pass, temporary, ceiling, person, settings, isTerminal = false } = options;
  const handed = Object.entries(from).flatMap(([name, value]) =>
    value !== undefined && (pass.includes(name) || isAllowed(name) || (isTerminal && OF_TERMINALS.has(name)))
      ? [[name, value] as const]
      : [],
  );
  return {
    TERM: "dumb",
    ...Object.fromEntries(handed),
    TMPDIR: temporary,
    GIT_TERMINAL_PROMPT: "0",
    GIT_CEILING_DIRECTORIES: ceiling,
    GIT_EDITOR: "true",
    GIT_AUTHOR_NAME: person.name,
    GIT_AUTHOR_EMAIL: person.email,
    GIT_COMMITTER_NAME: SKEIN.name,
    GIT_COMMITTER_EMAIL: SKEIN.email,
    ...settingVariables(settings),
  };
}

const OF_TERMINALS: ReadonlySet<string> = new Set([
  ...["TERM", "COLORTERM", "FORCE_COLOR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"],
]);

const isAllowed = (name: string): boolean =>
  (ALLOWED.has(name) || /^LC_[A-Z]+$/.test(name)) && !looksSecret(name);

/**
 * Variables about the user, the locale, and the places of tool chains. No proxies: their addresses may hold
 * passwords.
 */
const ALLOWED: ReadonlySet<string> = new Set([
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ"],
  ...["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"],
  ...["JAVA_HOME", "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME", "NVM_DIR", "PNPM_HOME", "VOLTA_HOME"],
  ...["PYENV_ROOT", "RBENV_ROOT", "ASDF_DIR", "ANDROID_HOME", "DOTNET_ROOT", "BUN_INSTALL", "DENO_DIR"],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"],
]);
