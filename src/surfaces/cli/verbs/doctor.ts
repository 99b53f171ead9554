/** `skein doctor`: with which settings could a run start? */
import { type AddVerb, addRepo, addSettings, type DoctorOptions, examples } from "./options.ts";

export const addDoctor: AddVerb = (program, perform) => {
  const command = addRepo(program.command("doctor"))
    .summary("could a run start here, and with what?")
    .description(
      "Looks at git, the repository, the agents, the gate, the state folder and the disk, says what stands in the " +
        "way and what to do about it, and shows every setting with where it comes from. Nothing is changed. It " +
        "takes the settings of `skein run`. Exit code 0: a run could start now; 1: it could not.",
    )
    .option("--base <ref>", "the branch or commit to start from (default: HEAD)");
  addSettings(command)
    .option("--config <file>", "the configuration (default: skein.yaml at the top of the repository)")
    .option("--all", "show also the settings that have their default")
    .addHelpText(
      "after",
      examples(
        "skein doctor",
        "skein doctor --model anthropic/claude-sonnet-4-5",
        "skein doctor --agent ./my-agent.sh",
        "skein doctor --all",
        "skein doctor --json",
      ),
    )
    .action((options: DoctorOptions) =>
      perform(async (context) => (await import("../acts/doctor.ts")).doctor(context, options)),
    );
};
