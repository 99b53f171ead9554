/** The published table of keywords by which a task without a named specialist gets one. */
import type { TaskType } from "./keywords.ts";

/** The subagent of a task that matches nothing else. */
export const DEFAULT_SUBAGENT = "main";

export type Heuristic = { readonly subagent: string; readonly keywords: readonly TaskType[] };

/**
 * The specialist whose keyword is mentioned first wins, because descriptions open with what is to be done:
 * "Document how to debug" is documentation. Where two are mentioned at the same place, table order decides.
 *
 * Verbs that any task may start with (add, build, update, write) and nouns that are part of many products
 * (error, profile, design, package) are left out: a wrong specialist costs more than `main`.
 */
export const HEURISTICS: readonly Heuristic[] = [
  {
    subagent: "debugger",
    keywords: ["debug", "fix", "bug", "crash", "diagnose", "troubleshoot", "root cause", "stack trace"],
  },
  { subagent: "code-reviewer", keywords: ["review", "critique"] },
  {
    subagent: "test-runner",
    // "spec" alone would catch "implement it as the spec says".
    keywords: ["test", "coverage", "run spec", "write spec", "add spec", "spec file", "spec suite"],
  },
  {
    subagent: "documentation-expert",
    keywords: ["document", "documentation", "doc", "docstring", "changelog", "readme", /\breadme\.\w+/i],
  },
  {
    subagent: "code-cleanup-optimizer",
    keywords: ["refactor", "clean up", "cleanup", "optimise", "optimize", "technical debt", "dead code"],
  },
  {
    subagent: "devops-experience-architect",
    keywords: ["deploy", "deployment", "docker", "kubernetes", "infrastructure", "CI", "CI/CD"],
  },
  {
    subagent: "dependency-manager",
    keywords: ["upgrade dependency", "update dependency", "bump dependency", "dependency update"],
  },
  { subagent: "codebase-context-analyzer", keywords: ["explore", "investigate", "analyse", "analyze"] },
  {
    subagent: "tech-lead-architect",
    keywords: ["architect", "architecture", "technical design", "research"],
  },
];
