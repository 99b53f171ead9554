/** Which rules of a makefile does a target reach, and what do they run? Variables are expanded, functions are not. */

/** `recipe`: the lines that a shell runs. */
type MakeRule = { readonly target: string; readonly recipe: readonly string[] };

type Makefile = {
  /** The rules of these targets and of their prerequisites; without targets, of the first one. */
  readonly reached: (targets: readonly string[]) => readonly MakeRule[];
  /** The text of a rule with variables expanded: prerequisites and recipe. */
  readonly rule: (target: string) => string | undefined;
  /** How recipes are run, if the makefile says so. */
  readonly shell: string;
  readonly includes: readonly string[];
};

export function readMakefile(text: string): Makefile {
  const variables = new Map([["MAKE", "make"]]);
  const rules = new Map<string, { needs: string[]; recipe: string[] }>();
  const includes: string[] = [];
  const special: string[] = [];
  let current: { needs: string[]; recipe: string[] }[] = [];
  for (const line of text.replaceAll(/\\\r?\n/g, " ").split(/\r?\n/)) {
    if (line.startsWith("\t")) {
      for (const rule of current) rule.recipe.push(line.slice(1));
      continue;
    }
    const [, name, value] = ASSIGNMENT.exec(line) ?? [];
    if (name !== undefined) {
      variables.set(name, `${variables.get(name) ?? ""} ${value}`.trim());
      if (/^(?:SHELL|\.SHELLFLAGS|MAKEFLAGS)$/.test(name)) special.push(line);
      continue;
    }
    const [, included] = /^[-s]?include\s+(.*)$/.exec(line) ?? [];
    if (included !== undefined) includes.push(...included.trim().split(/\s+/));
    const colon = line.indexOf(":");
    if (colon < 1 || /^[\s#]/.test(line) || line.slice(0, colon + 3).includes("=")) continue;
    const targets = line.slice(0, colon).trim();
    const [needs = "", ...inline] = line
      .slice(colon + 1)
      .replace(/^:/, "")
      .split(";");
    current = targets.split(/\s+/).map((target) => {
      const rule = rules.get(target) ?? { needs: [], recipe: [] };
      rules.set(target, rule);
      rule.needs.push(needs);
      if (inline.length > 0) rule.recipe.push(inline.join(";"));
      return rule;
    });
    if (/^\.(?:IGNORE|ONESHELL|SILENT|DEFAULT)\b/.test(targets)) special.push(line);
  }
  const first = [...rules.keys()].find((target) => !target.startsWith("."));
  const expand = (line: string) => expanded(line, variables);
  const rule: Makefile["rule"] = (target) => {
    const { needs, recipe } = rules.get(target) ?? {};
    return needs && [...needs, ...(recipe ?? [])].map(expand).join("\n");
  };
  const reached: Makefile["reached"] = (targets) => {
    const wanted = new Set(targets.length > 0 ? targets : first === undefined ? [] : [first]);
    const found: MakeRule[] = [];
    // A set may grow while it is walked, so indirect prerequisites are reached in the same pass.
    for (const target of wanted) {
      const { needs, recipe } = rules.get(target) ?? {};
      if (!needs || !recipe) continue;
      found.push({ target, recipe: recipe.map(expand) });
      for (const need of needs
        .map(expand)
        .join(" ")
        .split(/[\s|]+/))
        if (need !== "") wanted.add(need);
    }
    return found;
  };
  return { reached, rule, shell: special.join("\n"), includes: includes.map(expand) };
}

const ASSIGNMENT = /^(?:(?:export|override)\s+)*([\w.-]+)\s*(?:::?:?|[?+!])?=\s*(.*)$/;

/** Deeper than people nest variables; ends cycles. */
const MAX_DEPTH = 10;

function expanded(line: string, variables: ReadonlyMap<string, string>): string {
  let text = line;
  let left = MAX_CHARS;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const next = text.replaceAll(/\$[({]([\w.-]+)[)}]/g, (whole, name: string) => {
      const value = variables.get(name) ?? whole;
      left -= value.length;
      return left < 0 ? whole : value;
    });
    if (next === text) break;
    text = next;
  }
  return text;
}

/** Variables that double each other grow fast. */
const MAX_CHARS = 100_000;
