/** The shell script that starts a program: it waits for a word, sets limits, and may record the exit code. */
import type { Program } from "../../ports/programs.ts";

export function shellArguments({ command, limits, statusFile }: Program): string[] {
  const { maxFileBytes } = limits;
  const blocks = Number.isFinite(maxFileBytes) ? String(Math.ceil(maxFileBytes / BLOCK_BYTES)) : "unlimited";
  const script = statusFile === undefined ? `${BEGIN}; exec "$@"` : `${BEGIN}; ${WATCH}`;
  return ["-c", script, "sh", blocks, statusFile ?? "", ...command];
}

/** The unit of `ulimit -f` by POSIX: in dash, busybox, and bash as sh. */
const BLOCK_BYTES = 512;

/**
 * Waits for one line before it becomes the program, so that its group is on record first. If we die before, it reads
 * the end of the file and exits. Its own variable has a name that no environment has; the shell also sets PWD.
 */
const BEGIN =
  'read -r SKEIN_SHELL <&3 || exit 0; exec 3<&-; ulimit -f "$1" 2>/dev/null; SKEIN_SHELL=$2; shift 2';

/** Signals that end a process; without those that stop it or are ignored. */
const FATAL = "HUP|INT|QUIT|ILL|TRAP|ABRT|BUS|FPE|KILL|USR1|SEGV|USR2|PIPE|ALRM|TERM|XCPU|XFSZ|SYS";

/**
 * Stays as one more process, writes the exit code, and ends the same way: a shell sees a signal as a number above 128.
 * Its own messages about that are dropped. If it is told to end together with the program, it exits at once and writes
 * nothing: a stopped program has no exit code.
 */
const WATCH = [
  "exec 3>&2 2>/dev/null",
  '( exec "$@" ) 2>&3 3>&-',
  "set -- $?",
  'echo "$1" > "$SKEIN_SHELL"',
  `[ "$1" -gt 128 ] && case $(kill -l "$1") in ${FATAL}) ulimit -c 0; kill -s "$(kill -l "$1")" $$ ;; esac`,
  'exit "$1"',
].join("\n");
