/** `skein demo`: where is the demo made? */
import { type AddVerb, type DemoOptions, examples } from "./options.ts";

export const addDemo: AddVerb = (program, perform) => {
  program
    .command("demo")
    .summary("see a whole run, without an account, a network or a model")
    .description(
      "Makes a small project in a new folder and takes it from its SPEC.md to landed, tested commits. The agents " +
        "answer from a script, and some of them fail on purpose; everything else is real.",
    )
    .option("--folder <folder>", "make it here; the folder must be new or empty (default: a temporary one)")
    .addHelpText("after", examples("skein demo", "skein demo --folder ~/almanac-demo"))
    .action((options: DemoOptions) =>
      perform(async (context) => (await import("../acts/demo.ts")).demo(context, options)),
    );
};
