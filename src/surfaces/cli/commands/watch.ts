/** `skein watch`: a run on the whole terminal, while it goes on and after it ended. */
import { tellRun } from "../../../app/tell-run.ts";
import { serverParts } from "../../../compose/serve.ts";
import { hasFailed } from "../../../core/result.ts";
import { hasExit, openHere, openNamed } from "../acts/project.ts";
import { stopOnSignal } from "../acts/signals.ts";
import { type Act, usage } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { type AddTo, addRepo, examples, type RepoOption } from "./options.ts";

type WatchOptions = RepoOption & { readonly run?: string };

export const addWatch: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Shows a run on the whole terminal: its tasks, what each worker is doing, the landing queue, and what needs " +
        "you; pause, steer, approve, answer and cancel by a key. Without a run: the one that is open, else the newest.",
    )
    .addHelpText("after", examples("skein watch", "skein watch 1115-k7qd"))
    .action((run: string | undefined, options: RepoOption) =>
      perform((context) => watch(context, run === undefined ? options : { ...options, run })),
    );
};

const watch: Act<WatchOptions> = async (context, options) => {
  if (context.json || !process.stdout.isTTY || !process.stdin.isTTY)
    return usage(
      context,
      "skein watch needs a terminal",
      "skein logs -f tells the same line by line, also with --json",
    );
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const found = await openNamed(context, project, options.run);
  if (hasExit(found)) return found.exit;
  const { home } = found;
  const { files, mailboxOf } = serverParts(project);
  // The library that draws asks this variable alone.
  if (!context.out.hasColours) process.env["FORCE_COLOR"] = "0";
  const { watchRun } = await import("../../tui/watch-run.ts"); // Loads React: only who watches pays for it.
  using stop = stopOnSignal();
  await watchRun(
    {
      home,
      files,
      leaveNote: "Leaving does not end the run.",
      say: async (command) => {
        const told = await tellRun({ home, command }, mailboxOf(home), stop.signal);
        if (hasFailed(told)) return `refused: ${told.failure.message}`;
        return told.is === "heard"
          ? `${command.type}: the run has it`
          : "The run is stopped; this applies when you resume it.";
      },
    },
    stop.signal,
  );
  return EXIT.done;
};
