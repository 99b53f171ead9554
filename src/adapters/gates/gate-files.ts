/** Which files configure a gate's tools, or steer agents? By name; of some files only a part counts. */

export type GateFile = {
  /** The row applies if a command that the gate reaches names one of these tools. */
  readonly tool: RegExp;
  /** The path below a folder in which something is run. */
  readonly file: RegExp;
  readonly isDeep?: true;
  /** Only this part of its text counts, under this name. */
  readonly part?: { readonly of: (text: string) => string; readonly called: string };
};

const lines = (wanted: RegExp) => (text: string) =>
  text
    .split(/\r?\n/)
    .filter((line) => wanted.test(line))
    .join("\n");

/** The sections of a TOML or INI file whose name matches; all lines of a section, or those that match. */
const sections =
  (wanted: RegExp, keys: RegExp = /\S/) =>
  (text: string): string => {
    let isIn = false;
    return text
      .split(/\r?\n/)
      .filter((line) => {
        const [, name] = /^\s*\[{1,2}\s*([^\]]+?)\s*\]{1,2}/.exec(line) ?? [];
        if (name !== undefined) isIn = wanted.test(name);
        return isIn && (name !== undefined || keys.test(line));
      })
      .join("\n");
  };

const JS =
  /\b(?:npm|pnpm|yarn|bunx?|npx|node|deno|jest|vitest|mocha|ava|tap|playwright|karma|cypress|tsx|turbo|nx|lerna)\b/;
const PYTHON = /\b(?:py\.?test|tox|nox|python[\d.]*|uv|poetry|hatch|pdm|pipenv|coverage)\b/;
const PYTEST = { called: "its pytest settings" };

export const GATE_TOOLS: readonly GateFile[] = [
  {
    tool: JS,
    file: /^(?:(?:jest|vitest|karma|playwright|cypress|ava|wdio|web-test-runner)\.(?:config|conf|workspace|setup)\..+|\.mocharc(?:\..+)?|\.taprc|\.(?:nyc|c8)rc(?:\..+)?|bunfig\.toml)$/,
  },
  { tool: /\bvitest\b/, file: /^vite\.config\..+$/ },
  { tool: /\b(?:tsc|tsgo|vue-tsc|ts-node|ts-jest)\b/, file: /^tsconfig(?:\..+)?\.json$/ },
  { tool: /\b(?:babel|jest)\b/, file: /^(?:babel\.config\..+|\.babelrc(?:\..+)?)$/ },
  { tool: /\beslint\b/, file: /^(?:eslint\.config\..+|\.eslintrc(?:\..+)?|\.eslintignore)$/ },
  { tool: /\bbiome\b/, file: /^biome\.jsonc?$/ },
  {
    tool: JS,
    file: /^\.npmrc$/,
    part: {
      of: lines(/^\s*(?:script-shell|node-options|ignore-scripts|shell-emulator)\b/),
      called: "how scripts are run",
    },
  },
  {
    tool: /\byarn\b/,
    file: /^\.yarnrc(?:\.yml)?$/,
    part: { of: lines(/^\s*yarn-?path/i), called: "which yarn is run" },
  },
  { tool: /\b(?:turbo|nx|lerna)\b/, file: /^(?:turbo|nx|lerna)\.json$/ },
  {
    tool: /\bpnpm\b/,
    file: /^pnpm-workspace\.yaml$/,
    part: { of: lines(/^\s*-|^packages/), called: "its packages" },
  },
  {
    tool: PYTHON,
    file: /^(?:sitecustomize|usercustomize|pytest)\.py$/,
  },
  // pytest reads them in each folder that has tests.
  { tool: PYTHON, file: /(?:^|\/)(?:conftest\.py|\.?pytest\.(?:ini|toml))$/, isDeep: true },
  { tool: PYTHON, file: /^pyproject\.toml$/, part: { of: sections(/^tool\.(?:pytest|tox)\b/), ...PYTEST } },
  { tool: PYTHON, file: /^setup\.cfg$/, part: { of: sections(/^(?:tool:)?pytest$/), ...PYTEST } },
  { tool: PYTHON, file: /^tox\.ini$/, part: { of: sections(/^pytest$/), ...PYTEST } },
  { tool: /\btox\b/, file: /^tox\.ini$/ },
  { tool: /\bnox\b/, file: /^noxfile\.py$/ },
  {
    tool: /\bcargo\b/,
    file: /(?:^|\/)Cargo\.toml$/,
    isDeep: true,
    part: { of: cargoTests, called: "which tests are built and run" },
  },
  { tool: /\bcargo\b/, file: /^(?:\.cargo\/config(?:\.toml)?|rust-toolchain(?:\.toml)?)$/ },
  { tool: /\bgo\b/, file: /^go\.mod$/, part: { of: lines(/^module\b/), called: "the module line" } },
  { tool: /\bgolangci-lint\b/, file: /^\.golangci\..+$/ },
  { tool: /\bjust\b/, file: /^\.?justfile$/i },
  { tool: /\btask\b/, file: /^Taskfile\.ya?ml$/ },
  { tool: /\brake\b/, file: /^Rakefile$/ },
  { tool: /\brspec\b/, file: /^\.rspec$/ },
  { tool: /\bphpunit\b/, file: /^phpunit\.xml(?:\.dist)?$/ },
];

/** Without dependencies and optimisation settings. */
function cargoTests(text: string): string {
  return [
    sections(/^test$|^profile\.test\b|^workspace$/, /^\s*(?!resolver\b)\S/)(text),
    sections(/^(?:lib|bin|package)$/, /^\s*(?:test|doctest|harness|autotests|build)\s*=/)(text),
  ]
    .join("\n")
    .replaceAll(/^\[(?:lib|bin|package)\]$/gm, "");
}

/**
 * What agents, hooks and later runs obey. Instructions in prose (AGENTS.md and the like) change every day, and do not
 * count.
 */
export const STEERS =
  /^(?:skein\.ya?ml|\.mcp\.json|opencode\.jsonc?|\.envrc|lefthook\.ya?ml|\.pre-commit-config\.yaml|\.gitlab-ci\.yml|azure-pipelines\.yml|bitbucket-pipelines\.yml|Jenkinsfile|\.travis\.yml|\.(?:claude|codex|gemini|opencode|skein|husky|githooks|circleci)\/.+|\.github\/(?:workflows|actions)\/.+)$/;
