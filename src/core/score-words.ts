/** Which words make a request complex? One list for plans and for the subplanner's trigger, so that both say the same. */

const words = (list: string): readonly string[] => list.split(", ");

/** Lower case. The last word of each also counts in the plural and with "-d", "-ed" or "-ing". */
export const SCORE_WORDS = {
  connectors: words("and, then, with, plus, also, including, after, before, once, while, next, finally"),
  architecture: words(
    "architecture, microservice, event sourcing, scalability, distributed, framework, refactor, redesign",
  ),
  security: words(
    "security, secure, auth, authentication, login, password, oauth, token, secret, encryption, permission",
  ),
  integration: words("integration, integrate, third-party, webhook, external api, sdk, graphql, rest api"),
  severalFiles: words(
    "files, modules, components, packages, folders, codebase, repo, repository, everywhere",
  ),
  severalSystems: words("services, systems, microservices, platforms, environments, end-to-end, full-stack"),
  /** Two different ones are several systems. */
  systems: words("frontend, backend, database, server, client, cli, api, queue, dashboard, infrastructure"),
  production: words("production, deploy, deployment, release, rollout, rollback, downtime, outage"),
  data: words("migrate, migration, database, schema, data loss, backup, backfill, user data, transaction"),
  performance: words(
    "performance, slow, latency, throughput, optimize, bottleneck, memory leak, faster, timeout",
  ),
} as const;

/** What software work is called, in the form of an order. */
export const ACTION_VERBS: ReadonlySet<string> = new Set(
  words(
    "add, analyze, audit, build, bump, change, check, clean, configure, connect, convert, create, delete, deploy, design, " +
      "develop, document, drop, enable, disable, explain, export, extend, extract, find, fix, format, generate, handle, " +
      "implement, import, improve, install, integrate, investigate, list, make, merge, migrate, move, optimize, port, " +
      "publish, refactor, release, remove, rename, replace, review, rewrite, run, scan, secure, set, show, simplify, " +
      "split, summarize, support, test, update, upgrade, validate, verify, write",
  ),
);
