/** `skein watch`: shows a run on the whole terminal, during the run and after its end. */
import { showOnScreen } from "../acts/on-screen.ts";
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
        "you; a task with its transcript, diff, evidence and gate output; pause, steer, approve, answer and cancel with a key. " +
        "Without a run: the open one, else the newest.",
    )
    .addHelpText("after", examples("skein watch", "skein watch 1115-k7qd"))
    .action((run: string | undefined, options: RepoOption) =>
      perform((context) => watch(context, run === undefined ? options : { ...options, run })),
    );
};

const watch: Act<WatchOptions> = async (context, options) => {
  if (context.json || !context.hasScreen)
    return usage(
      context,
      "skein watch needs a terminal",
      "use skein logs -f, which prints the same line by line, also with --json",
    );
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const found = await openNamed(context, project, options.run);
  if (hasExit(found)) return found.exit;
  using stop = stopOnSignal();
  const leave = "Leaving does not end the run.";
  await showOnScreen(context, project, { home: found.home, leave }, stop.signal);
  return EXIT.done;
};
