/** Did a tree pass, and may it become the target? The rule for a red target is here too. */

/** What the gate's commands said about one tree. No commands means that no gate was found. */
export type GateReport = {
  readonly commands: readonly {
    readonly name: string;
    readonly green: boolean;
    /** Names of what failed, where the tool's output names it. */
    readonly failures: readonly string[];
  }[];
};

/**
 * On a green target a candidate must be green. On a red one it must make nothing worse, and a fix must remove at
 * least one of the failures in `mustHeal` that are there.
 */
export type Accept =
  | { readonly is: "green" }
  | { readonly is: "no-worse"; readonly baseline: GateReport; readonly mustHeal: readonly string[] };

/** What a landing can show. `ungated`: there is no gate, which is not the same as one that passed. */
export type Proof = "green" | "red-to-red" | "ungated";

export type Verdict =
  | { readonly ok: true; readonly proof: Proof }
  | { readonly ok: false; readonly failures: readonly string[] };

export function judgeGate(report: GateReport, accept: Accept): Verdict {
  const failures = failuresOf(report);
  if (report.commands.length === 0) return { ok: true, proof: "ungated" };
  if (failures.length === 0) return { ok: true, proof: "green" };
  if (accept.is === "green") return { ok: false, failures };

  const before = new Set(failuresOf(accept.baseline));
  const fresh = failures.filter((name) => !before.has(name));
  if (fresh.length > 0) return { ok: false, failures: fresh };
  const now = new Set(failures);
  const asked = accept.mustHeal.filter((name) => before.has(name));
  return asked.length > 0 && asked.every((name) => now.has(name))
    ? { ok: false, failures: asked }
    : { ok: true, proof: "red-to-red" };
}

export const isGreen = (report: GateReport) => report.commands.every((command) => command.green);

/** Every failure under a name that is the same in the next run: "test: adds numbers", or "build" alone. */
export const failuresOf = (report: GateReport): readonly string[] =>
  report.commands.flatMap(({ name, green, failures }) =>
    green ? [] : failures.length === 0 ? [name] : failures.map((failed) => `${name}: ${failed}`),
  );
