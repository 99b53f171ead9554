/** A plan of twenty tasks for tests: parallel, in layers, without known files, a report, a verification. */

type Task = {
  readonly id: string;
  readonly subject: string;
  readonly description: string;
  readonly blockedBy?: readonly string[];
  readonly scope?: readonly string[];
  readonly delivers?: "change" | "report";
  readonly success_criterion?: string;
  readonly metadata: { readonly agent?: string; readonly output_file?: string };
};

const made = (id: string) => `made/${id}.txt`;
const output = (id: string) => ({ output_file: `$CLAUDE_SCRATCHPAD_DIR/result_${id}.md` });
const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `${from + i}`);

/** Eight tasks without dependencies, each with a file of its own. */
const FIRST: readonly Task[] = ids(1, 8).map((id) => ({
  id,
  subject: `Lay foundation ${id}`,
  description: `Write ${made(id)}`,
  scope: [made(id)],
  metadata: output(id),
}));

/** Six tasks that wait for two of the first eight: each criterion passes only where both have landed. */
const SECOND: readonly Task[] = ids(9, 14).map((id, i) => {
  const on = [`${i + 1}`, `${i + 2}`];
  return {
    id,
    subject: `Build floor ${id}`,
    description: `Write ${made(id)} on ${on.join(" and ")}`,
    blockedBy: on,
    scope: [made(id)],
    success_criterion: [...on, id].map((one) => `test -s ${made(one)}`).join(" && "),
    metadata: output(id),
  };
});

/** Four tasks without known files, which all change the same file, so that they meet there. */
const LOOSE: readonly Task[] = ids(15, 18).map((id) => ({
  id,
  subject: `Enter ${id} in the list`,
  description: "Add a line of your own at the end of the list",
  metadata: output(id),
}));

const LAST: readonly Task[] = [
  {
    id: "19",
    subject: "List what was made",
    description: "Scan and catalog the files",
    blockedBy: ids(9, 14),
    delivers: "report",
    metadata: { agent: "Explore" },
  },
  {
    id: "20",
    subject: "Verify everything",
    description: "Check that all of it is there",
    blockedBy: [...ids(15, 18), "19"],
    delivers: "report",
    success_criterion: 'test "$(sort -u list.txt | wc -l)" -eq 5 && test "$(ls made | wc -l)" -eq 14',
    metadata: { agent: "workflow-orchestrator:task-completion-verifier", ...output("20") },
  },
];

export const TASKS: readonly Task[] = [...FIRST, ...SECOND, ...LOOSE, ...LAST];

export const planOfTwenty = (): string =>
  JSON.stringify(
    { skein_plan: 1, goal: "Make twenty things", max_concurrent: 4, tasks: TASKS },
    undefined,
    2,
  );

/** The files of the repository before the run. */
export const FILES = { "README.md": "# here\n", "list.txt": "the list\n" };

/** A command agent as a shell script; `before` runs first, in each attempt. */
export const agentOfTwenty = (before = ""): string => `#!/bin/sh
cat > /dev/null
id=\${SKEIN_TASK#t.}
echo "$id" >> "$PLACE/attempts"
${before}
mkdir -p made
case $id in
  1[5-8]) echo "line of $id" >> list.txt ;;
  19) echo '{"status":"complete","summary":"fourteen files"}'; exit 0 ;;
  20) ;;
  *) echo "made by $id" > "made/$id.txt" ;;
esac
echo "the whole result of $id" > "$SKEIN_OUTPUT_FILE"
echo "DONE|$SKEIN_OUTPUT_FILE"
`;
