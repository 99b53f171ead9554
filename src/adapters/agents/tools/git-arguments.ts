/** Decides which git commands and options a planner may use: only those known to do nothing but read. */

/** The allowed options of a command; everything else is refused, abbreviations included. */
type Options = {
  /** Letters without a value, which can be combined: "-sb". */
  readonly letters?: string;
  /** Letters with a value, in the same word or the next. */
  readonly valued?: string;
  /** Long options without a value, or with one behind "="; separated by spaces. */
  readonly words?: string;
  /** Long options with a value behind "=" or as the next argument. */
  readonly valuedWords?: string;
  /** Options that Skein always adds, in front. */
  readonly always?: readonly string[];
};

const DIFF = {
  letters: "pswbRMDz",
  valued: "USGl",
  words: `patch no-patch stat numstat shortstat name-only name-status summary raw dirstat unified minimal patience
    histogram word-diff word-diff-regex no-renames find-renames ignore-all-space ignore-space-change
    ignore-blank-lines function-context diff-filter pickaxe-all pickaxe-regex full-index abbrev no-color check text
    exit-code quiet compact-summary no-prefix relative cc combined-all-paths`,
  always: ["--no-ext-diff", "--no-textconv", "--ignore-submodules=all"],
} satisfies Options;

const LOG = {
  letters: `${DIFF.letters}giEFP`,
  valued: `${DIFF.valued}nL`,
  words: `${DIFF.words} oneline graph all branches tags remotes decorate no-decorate merges no-merges first-parent
    reverse follow topo-order date-order abbrev-commit no-abbrev-commit left-right cherry-pick cherry-mark boundary
    full-history parents children ancestry-path simplify-by-decoration all-match invert-grep extended-regexp
    fixed-strings perl-regexp regexp-ignore-case walk-reflogs source no-walk`,
  valuedWords: "max-count skip since after until before author committer grep format pretty date",
  always: DIFF.always,
} satisfies Options;

const REFS = {
  letters: "ai",
  words: "all list column no-color ignore-case no-column",
  valuedWords: "contains no-contains merged no-merged points-at sort format",
} satisfies Options;

const COMMANDS: Readonly<Record<string, Options>> = {
  log: LOG,
  show: LOG,
  diff: { ...DIFF, words: `${DIFF.words} cached staged merge-base` },
  status: {
    letters: "sbuz",
    words: "short branch porcelain long untracked-files ignored show-stash",
    always: ["--ignore-submodules=all"],
  },
  blame: {
    letters: "clwestfnbMp",
    valued: "L",
    words: "porcelain line-porcelain show-name show-email root reverse date abbrev",
    always: ["--no-textconv"],
  },
  "ls-files": {
    letters: "cdmoiskuvtz",
    words: `cached deleted modified others ignored stage unmerged directory exclude-standard full-name error-unmatch
      deduplicate eol`,
  },
  branch: { ...REFS, letters: "arvi", words: `${REFS.words} verbose remotes`, always: ["--list"] },
  tag: { ...REFS, letters: "lin", always: ["--list"] },
};

const holds = (words: string | undefined, word: string): boolean =>
  words?.split(/\s+/).includes(word) ?? false;

type GitArguments = { readonly args: readonly string[] } | { readonly refused: string };

/** Checks the arguments for git, and adds the options that Skein always adds. */
export function gitArguments(asked: readonly string[]): GitArguments {
  const [command = "", ...rest] = asked[0] === "git" ? asked.slice(1) : asked;
  const options = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  if (options === undefined) {
    return {
      refused: `git ${word(command)} is not allowed; there are ${Object.keys(COMMANDS).join(", ")}`,
    };
  }
  let isValue = false;
  let arePaths = false;
  for (const argument of rest) {
    if (argument.includes("\0")) return { refused: "an argument cannot contain a zero byte" };
    if (isValue) {
      isValue = false;
      if (asksWhoSigned(command, argument)) return { refused: SIGNED };
    } else if (argument === "--") {
      arePaths = true;
    } else if (!arePaths && argument.startsWith("-") && argument !== "-") {
      const read = readOption(options, argument);
      if (read === "refused") return { refused: `git ${command} ${word(argument)} is not allowed here` };
      if (asksWhoSigned(command, argument)) return { refused: SIGNED };
      isValue = read === "value follows";
    } else {
      if (leavesFolder(argument)) return { refused: `${word(argument)} is outside of the workspace` };
    }
  }
  if (isValue) return { refused: "the last option has no value" };
  return { args: [command, ...(options.always ?? []), ...rest] };
}

function readOption(options: Options, argument: string): "alone" | "value follows" | "refused" {
  if (argument.startsWith("--")) {
    const equals = argument.indexOf("=");
    const name = argument.slice(2, equals === -1 ? undefined : equals);
    if (holds(options.valuedWords, name)) return equals === -1 ? "value follows" : "alone";
    return holds(options.words, name) ? "alone" : "refused";
  }
  if (/^-[0-9]+$/.test(argument)) return options.valued === undefined ? "refused" : "alone";
  for (const [index, letter] of [...argument.slice(1)].entries()) {
    if (options.valued?.includes(letter)) return index + 2 === argument.length ? "value follows" : "alone";
    if (!options.letters?.includes(letter)) return "refused";
  }
  return "alone";
}

/** To check a signature, git starts gpg. */
const asksWhoSigned = (command: string, value: string): boolean =>
  /%[-+ ]?G/.test(value) || (NAMING_FIELDS.has(command) && value.includes("signature"));

const NAMING_FIELDS: ReadonlySet<string> = new Set(["branch", "tag"]);

const SIGNED = "signatures are not checked here";

/** Given a path outside of the repository, git compares files anywhere on the disk. */
const leavesFolder = (argument: string) => argument.startsWith("/") || argument.split(/[/:]/).includes("..");

const word = (text: string) => JSON.stringify(text.slice(0, 100));
