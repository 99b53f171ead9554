/** `skein simulate`: which plan, or which run, is to be foreseen, and with what? */
import type { SimulateOptions } from "../acts/simulate-options.ts";
import { type AddVerb, addRepo, examples } from "./options.ts";

export const addSimulate: AddVerb = (program, perform) => {
  addRepo(program.command("simulate [plan]"))
    .summary("how long a plan would take, with how many workers, at what cost")
    .description(
      "Runs the real engine on a virtual clock, without a model and without touching git: time, cost and conflicts " +
        "for 1, 2, 4 … workers, how many of them are worth having, what decides the time, and which files are in the " +
        "way. How long things take comes from the plan, else from earlier runs of this repository, else from " +
        "defaults; it is said which. With --run a recorded run is played again, and stands beside what was foreseen.",
    )
    .option("--run <run>", "instead of a plan: a run of this repository")
    .option(
      "--max-workers <n>",
      "try no more than so many (default: as many as there are tasks, at most 1,000)",
    )
    .option(
      "--fail-rate <share>",
      'let this share of attempts fail, such as 0.2; "learnt": as in earlier runs (default: none fails)',
    )
    .option("--seed <n>", "where something is left to chance: another number, another story (default: 1)")
    .option("--svg <file>", "also draw it into this file")
    .addHelpText(
      "after",
      examples(
        "skein simulate plan.json",
        "skein simulate plan.md --max-workers 16 --svg forecast.svg",
        "skein simulate plan.json --fail-rate learnt",
        "skein simulate --run 1115-k7qd",
      ),
    )
    .action((plan: string | undefined, options: Omit<SimulateOptions, "plan">) =>
      perform(async (context) =>
        (await import("../acts/simulate.ts")).simulate(
          context,
          plan === undefined ? options : { ...options, plan },
        ),
      ),
    );
};
