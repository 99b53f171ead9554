/** Reads the commands of the gate in skein.yaml: each a text, or with a name and variables. */
import * as z from "zod";

const named = z.strictObject({
  name: z.string("must be a text").min(1, "must not be empty").max(80, "is too long"),
  run: z.string("must be a text").trim().min(1, "must not be empty").max(10_000, "is too long"),
  env: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of a variable"),
      z.string("must be a text").max(10_000, "is too long"),
    )
    .optional(),
});

type GateCommand = z.infer<typeof named>;

/** `auto`: detected; `none`: nothing has to pass. Each command is run by `/bin/sh -c`; its default name is its text. */
export const gate = () =>
  z.codec(
    z.union(
      [
        z.enum(["auto", "none"]),
        z.array(z.union([z.string(), named])).min(1, 'has no commands: write "none" for no gate'),
      ],
      {
        error:
          'must be "auto", "none" or a list of commands such as ["npm test"], each a text or { name, run, env }',
      },
    ),
    z.union([z.enum(["auto", "none"]), z.array(named)]),
    {
      decode: (written, context) => {
        if (typeof written === "string") return written;
        const commands = written.map((one) =>
          typeof one === "string" ? { name: nameOf(one), run: one.trim() } : one,
        );
        const message = problemOf(commands);
        if (message === undefined) return commands;
        context.issues.push({ code: "custom", message, input: undefined });
        return z.NEVER;
      },
      encode: (commands) => commands,
    },
  );

const nameOf = (run: string) => run.trim().split("\n")[0]!.slice(0, 80).trim();

function problemOf(commands: readonly GateCommand[]): string | undefined {
  if (commands.some(({ name, run }) => name === "" || run === "")) return "has an empty command";
  const twice = commands.find(({ name }, i) => commands.findIndex((other) => other.name === name) < i);
  return (
    twice && `has two commands with one name: command ${commands.indexOf(twice) + 1} repeats an earlier one`
  );
}
