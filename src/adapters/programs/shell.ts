/** What does the shell do that a program is started by? It waits for a word, sets limits, and may see how it ends. */
import type { Program } from "../../ports/programs.ts";

export function shellArguments({ command, limits, statusFile }: Program): string[] {
  const { maxFileBytes } = limits;
  const blocks = Number.isFinite(maxFileBytes) ? String(Math.ceil(maxFileBytes / BLOCK_BYTES)) : "unlimited";
  const script = statusFile === undefined ? `${BEGIN}; exec "$@"` : `${BEGIN}; ${WATCH}`;
  return ["-c", script, "sh", blocks, statusFile ?? "", ...command];
}

/** Units of `ulimit -f`, by POSIX; so in dash, busybox, and bash as sh. */
const BLOCK_BYTES = 512;

/**
 * It waits for one line and then becomes the program: its group can be put on record before. If we die first, it
 * reads the end of the file and exits. The environment is the program's, but for PWD, which the shell sets; the name
 * of its own variable is one that no environment has, because it would be changed there.
 */
const BEGIN =
  'read -r SKEIN_SHELL <&3 || exit 0; exec 3<&-; ulimit -f "$1" 2>/dev/null; SKEIN_SHELL=$2; shift 2';

/** Not for a core file of the shell, and not for those that stop it, or that it ignores. */
const FATAL = "HUP|INT|QUIT|ILL|TRAP|ABRT|BUS|FPE|KILL|USR1|SEGV|USR2|PIPE|ALRM|TERM|XCPU|XFSZ|SYS";

/**
 * Or it stays (one process more), writes down how the program ended, and ends the same way: a shell sees a signal as
 * a number above 128. Its own words about that are nobody's output. Asked to end together with the program, it goes
 * at once and writes nothing: whoever was stopped has no exit code.
 */
const WATCH = [
  "exec 3>&2 2>/dev/null",
  '( exec "$@" ) 2>&3 3>&-',
  "set -- $?",
  'echo "$1" > "$SKEIN_SHELL"',
  `[ "$1" -gt 128 ] && case $(kill -l "$1") in ${FATAL}) ulimit -c 0; kill -s "$(kill -l "$1")" $$ ;; esac`,
  'exit "$1"',
].join("\n");
