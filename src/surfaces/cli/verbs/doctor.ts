/** `skein doctor`: with which settings could a run start? */
import { Option } from "commander";
import { type AddVerb, addRepo, addSettings, collect, type DoctorOptions, examples } from "./options.ts";

/** Without a command: the empty one, among those that are named. */
const TRIAL = new Option(
  "--gate [command]",
  "run the gate once; with a command: what must pass, as for skein run",
)
  .preset("")
  .argParser(collect);

export const addDoctor: AddVerb = (program, perform) => {
  const command = addRepo(program.command("doctor"))
    .summary("could a run start here, and with what?")
    .description(
      "Looks at git, the repository, the agents, the gate, the state folder and the disk, says what stands in the " +
        "way and what to do about it, and shows every setting with where it comes from. Nothing is changed. An " +
        "agent that speaks ACP and is named with --agent is started and asked for a session: is it logged in? It " +
        "takes the settings of `skein run`. Exit code 0: a run could start now; 1: it could not. `--gate` alone " +
        "really runs the gate and its probe once, in a workspace that is removed afterwards. Then 0 is a gate that " +
        "is green, 1 one that is red, 3 one that cannot be run or proves nothing.",
    )
    .option("--base <ref>", "the branch or commit to start from (default: HEAD)");
  addSettings(command, TRIAL)
    .option("--config <file>", "the configuration (default: skein.yaml at the top of the repository)")
    .option("--all", "show also the settings that have their default")
    .addHelpText(
      "after",
      examples(
        "skein doctor",
        "skein doctor --model anthropic/claude-sonnet-4-5",
        "skein doctor --agent codex",
        "skein doctor --agent ./my-agent.sh",
        "skein doctor --all",
        "skein doctor --gate",
        "skein doctor --json",
      ),
    )
    .action((options: DoctorOptions) =>
      perform(async (context) => (await import("../acts/doctor.ts")).doctor(context, options)),
    );
};
