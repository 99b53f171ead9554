import assert from "node:assert/strict";
import { test } from "node:test";
import { shown, WORDS } from "../../../test/support/reading.ts";
import { readRequest } from "./read-request.ts";

/** What a careful reader makes of each; see `shown` for how it is written. */
const EXAMPLES: Readonly<Record<string, readonly (readonly [request: string, expected: string])[]>> = {
  "the examples that everybody knows": [
    [
      "Create calculator with add, subtract, multiply, divide",
      "create: calculator with[add; subtract; multiply; divide]",
    ],
    ["Build user auth with login, logout, register", "build: user auth with[login; logout; register]"],
    ["Implement CRUD operations", "implement: CRUD operations"],
    ["Review 16 agent files", "review: 16 agent files #16"],
  ],
  "how many there are": [
    ["Review all sixteen agent files in agents/", "review: all sixteen agent files in agents/ #16"],
    ["Write 3 tests", "write: 3 tests #3"],
    ["Fix 404 errors on the docs site", "fix: 404 errors on the docs site"],
    ["Increase the timeout to 30 seconds", "increase: the timeout to 30 seconds"],
    ["Add three new pages: home, about and contact", "add: three new pages each[home; about; contact]"],
    ["Upgrade to Node 24 and React 19", "upgrade: each[Node 24; React 19]"],
  ],
  "what has no end": [
    ["Convert all JavaScript files to TypeScript", "convert: all JavaScript files to TypeScript ∞"],
    ["Refactor every module", "refactor: every module ∞"],
    ["For each package add a README", "add: a README ∞"],
    ["Summarize the entire repo", "summarize: the entire repo ∞"],
    ["Review all files in src/ and summarize each", "review: all files in src/ ∞ / summarize: each ∞"],
    ["Make sure that all tests pass", "ensure: that all tests pass"],
  ],
  "several imperatives": [
    ["Fix the bug and add a test", "fix: the bug / add: a test"],
    ["Fix build and add tests", "fix: build / add: tests"],
    ["Fix the bug and deploy", "fix: the bug / deploy:"],
    ["Roll back and find out what happened", "roll back: / investigate: what happened"],
    ["Design and build a cache", "design: a cache / build: a cache <0"],
    [
      "Update models.py, filter deleted users and add tests",
      "update: models.py / filter: deleted users / add: tests",
    ],
    ["Build, test and deploy the app", "build: the app / test: the app / deploy: the app"],
    [
      "Update dependencies, run the tests, and fix whatever breaks",
      "update: dependencies / run: the tests / fix: whatever breaks",
    ],
    [
      "Migrate the REST API to GraphQL, update the clients and deprecate the old endpoints",
      "migrate: the REST API to GraphQL / update: the clients / deprecate: the old endpoints",
    ],
    ["Clean up the code and get rid of dead files", "clean up: the code / remove: dead files"],
    [
      "Add rate limiting to the API; update the docs; bump the version",
      "add: rate limiting to the API / update: the docs / bump: the version",
    ],
    [
      "Optimise the SQL queries in src/db/ and, if needed, add indexes",
      "optimise: the SQL queries in src/db/ / add: indexes",
    ],
    ["Frobnicate the widget and document the policy", "frobnicate: the widget / document: the policy"],
  ],
  "one verb with several objects": [
    ["add search and filters", "add: each[search; filters]"],
    ["Implement login, logout and register", "implement: each[login; logout; register]"],
    ["Add logging, metrics & tracing to the worker", "add: each[logging; metrics; tracing]"],
    ["Add a page plus a test", "add: each[a page; a test]"],
    ["Support PNG, JPEG or WebP uploads", "support: each[PNG; JPEG; WebP uploads]"],
    ["Add a cache for users and a rate limiter", "add: each[a cache for users; a rate limiter]"],
    [
      "Write tests for the parser, the lexer and the printer",
      "write: tests each[the parser; the lexer; the printer]",
    ],
    ["Add validation to login and signup", "add: validation each[login; signup]"],
    [
      "Fix the flaky test in test/queue.test.ts as well as the one in test/run.test.ts",
      "fix: each[the flaky test in test/queue.test.ts; the one in test/run.test.ts]",
    ],
    [
      "Fix the login bug, the broken search and the wrong total",
      "fix: each[the login bug; the broken search; the wrong total]",
    ],
    ["Check src/a.sh, .git/config and src/b.sh", "check: each[src/a.sh; .git/config; src/b.sh]"],
    ["Add models for users and orders, each with an API", "add: models each[users; orders]"],
    ["Review the files a.ts, b.ts and c.ts", "review: the files each[a.ts; b.ts; c.ts]"],
    [
      "Rename `getUser` to `fetchUser` in src/api.ts and src/db.ts",
      "rename: `getUser` to `fetchUser` each[src/api.ts; src/db.ts]",
    ],
    ["Add GET, POST, PUT and DELETE endpoints for orders", "add: each[GET; POST; PUT; DELETE endpoints]"],
    ["Translate the UI into German, French and Spanish", "translate: the UI each[German; French; Spanish]"],
  ],
  "verbs that are names as well": [
    ["Upgrade node to 24 and drop lodash", "upgrade: node to 24 / drop: lodash"],
    [
      "Bump react, ditch moment, swap jest for vitest and port auth to rust",
      "bump: react / ditch: moment / swap: jest for vitest / port: auth to rust",
    ],
    ["Add rounded corners and drop shadows", "add: each[rounded corners; drop shadows]"],
    ["Handle host and port settings", "handle: each[host; port settings]"],
  ],
  "what is one thing": [
    ["Scrape the sites and store headlines in a table", "scrape: the sites and store headlines in a table"],
    [
      "Roll it out to some users first, then to everyone",
      "roll: it out to some users first, then to everyone",
    ],
    ["Write an ADR on whether to use GraphQL or REST", "write: an ADR on whether to use GraphQL or REST"],
    ["Add a form with postgres and redis, and a workflow", "add: a form with[postgres; redis; a workflow]"],
    ["Add drag and drop to the board", "add: drag and drop to the board"],
    ["Add read and write access for editors", "add: read and write access for editors"],
    ["Choose between Redis and Memcached", "choose: between Redis and Memcached"],
    ["Replace lodash with native methods and utilities", "replace: lodash with native methods and utilities"],
    ["Split the file into a.ts and b.ts", "split: the file into a.ts and b.ts"],
    [
      "Move the helpers from src/util.ts to src/core/text.ts and src/core/lines.ts",
      "move: the helpers from src/util.ts to src/core/text.ts and src/core/lines.ts",
    ],
    [
      "Create a script which reads data.csv, computes the mean and writes out.json",
      "create: a script which reads data.csv, computes the mean and writes out.json",
    ],
    [
      "Add a script to download the reports and clean the results",
      "add: a script to download the reports and clean the results",
    ],
    ["Add a script to export the data and document it", "add: a script to export the data / document: it <0"],
    ["Set up CI with GitHub Actions", "set up: CI with GitHub Actions"],
  ],
  "lists of parts": [
    [
      "Create a page with a form, a table and a chart, and add tests",
      "create: a page with[a form; a table; a chart] / add: tests",
    ],
    [
      "Build a REST API for a blog, including posts, comments and tags",
      "build: a REST API for a blog with[posts; comments; tags]",
    ],
    [
      "Build a cache with Redis, including metrics, docs and a flag",
      "build: a cache with Redis with[metrics; docs; a flag]",
    ],
    [
      "Convert the site, page by page: home, about, blog",
      "convert: the site, page by page each[home; about; blog]",
    ],
    ["Create a CLI that supports init, build and deploy", "create: a CLI with[init; build; deploy]"],
    [
      "Create a calculator (add, subtract, multiply, divide)",
      "create: a calculator with[add; subtract; multiply; divide]",
    ],
    [
      "Create a REST API with create user, delete user and list users",
      "create: a REST API with[create user; delete user; list users]",
    ],
    [
      "Implement user management: create user, delete user, list users",
      "implement: user management with[create user; delete user; list users]",
    ],
    [
      "Add these endpoints: GET /users, POST /users and DELETE /users",
      "add: these endpoints each[GET /users; POST /users; DELETE /users]",
    ],
    [
      "Refactor the parser: split it into modules and add tests",
      "refactor: the parser with[split it into modules; add tests]",
    ],
  ],
  "words of order": [
    ["Fix the login bug, then add a test.", "fix: the login bug / add: a test <0"],
    [
      "Fix the login bug. After that, update the docs. Finally, deploy to staging.",
      "fix: the login bug / update: the docs <0 / deploy: to staging <1",
    ],
    [
      "First create the schema, then write the API, then build the UI",
      "create: the schema / write: the API <0 / build: the UI <1",
    ],
    ["Fix the bug. Add a test. Then deploy.", "fix: the bug / add: a test / deploy: <0,1"],
    [
      "Write the migration, run it, and then verify the data",
      "write: the migration / run: it <0 / verify: the data <0,1",
    ],
    ["Set up the database, and when that's done, write the API.", "set up: the database / write: the API <0"],
    [
      "Run the migration. Once the migration is done, remove the old table.",
      "run: the migration / remove: the old table <0",
    ],
    ["Once the migration is done, remove the old table", "remove: the old table"],
    ["After fixing the bug, add a test", "fix: the bug / add: a test <0"],
    ["After you have fixed the bug, add a test", "fix: the bug / add: a test <0"],
    [
      "Before releasing, run the tests and bump the version",
      "run: the tests / bump: the version / release: <0,1",
    ],
    ["Run the tests before deploying", "run: the tests / deploy: <0"],
    ["Show a warning before deploying", "show: a warning before deploying"],
    ["Check the input before saving the form", "check: the input before saving the form"],
    [
      "Fix the bug, then add a test and update the docs",
      "fix: the bug / add: a test <0 / update: the docs <0",
    ],
    ["After fixing the bug, add a test and run it", "fix: the bug / add: a test <0 / run: it <1"],
    ["Write a script, run it and update the docs", "write: a script / run: it <0 / update: the docs"],
    ["Before deploying, run the tests", "run: the tests / deploy: <0"],
    ["Deploy to staging. Before deploying, run the tests.", "run: the tests / deploy: to staging <0"],
    [
      "Run the linter. Deploy once the linter is green.",
      "run: the linter / deploy: once the linter is green <0",
    ],
    ["Review PR #123 and merge it", "review: PR #123 / merge: it <0"],
    ["Next, add a footer", "add: a footer"],
    ["First, analyze the codebase. Second, write a report.", "analyze: the codebase / write: a report"],
    [
      "Investigate why the queue stalls, then fix it, and finally write a postmortem",
      "investigate: why the queue stalls / fix: it <0 / write: a postmortem <1",
    ],
  ],
  politeness: [
    [
      "Could you please add a dark mode toggle to the settings page?",
      "add: a dark mode toggle to the settings page",
    ],
    [
      "I want you to refactor the parser and write tests for it.",
      "refactor: the parser / write: tests for it",
    ],
    ["I'd like a search page", "?: a search page"],
    ["We need to migrate the database to Postgres", "migrate: the database to Postgres"],
    ["Let's rename the module", "rename: the module"],
    ["Can we get rid of jQuery?", "remove: jQuery"],
    ["Would you mind renaming the variable?", "rename: the variable"],
    ["It would be great if you could add pagination", "add: pagination"],
    ["Don't forget to update the changelog", "update: the changelog"],
    ["Hi Kim, please add a test for src/core/due.ts", "add: a test for src/core/due.ts"],
    ["Could someone look into it?", "investigate: it"],
    ["It would be great if the page could be updated", "update: the page"],
    [
      "What I'd really like is for you to clean up src/a.ts, and while you're at it add a test",
      "clean up: src/a.ts / add: a test",
    ],
    ["As a user, I want to reset my password", "allow: a user to reset their password"],
    ["Help me fix the build", "fix: the build"],
  ],
  "what something must do": [
    ["It should log errors to a file", "log: errors to a file"],
    [
      "It should list the last 10, let me filter by date, and export CSV",
      "list: the last 10 / let: me filter by date / export: CSV",
    ],
    ["It should show the order total and export date", "show: each[the order total; export date]"],
    [
      "Add a page. It should sort by price and let me filter",
      "add: a page / sort: by price <0 / let: me filter <0",
    ],
    ["Let me know. Fix the login.", "fix: the login"],
    ["The app must support dark mode", "support: dark mode"],
    ["The cache should be cleared on logout", "clear: The cache"],
    ["Users should be able to export CSV files", "export: CSV files"],
    ["I want the app to support dark mode", "support: dark mode"],
    ["There should be a search box on the home page.", "?: a search box on the home page"],
  ],
  constraints: [
    ["Don't change the public API", "!Don't change the public API"],
    ["Fix the bug without adding dependencies", "fix: the bug / !without adding dependencies"],
    [
      "Create a page. Use Tailwind. Must be accessible.",
      "create: a page / !Use Tailwind / !Must be accessible",
    ],
    ["Use Tailwind for the page", "use: Tailwind for the page"],
    ["Add a cache, no breaking changes", "add: a cache / !no breaking changes"],
    ["Add a login page, but don't touch the API.", "add: a login page / !don't touch the API"],
    ["Users cannot log in on Safari. Fix it.", "fix: it"],
    ["The API must not change.", "!The API must not change"],
    [
      "Fix the bug. Don't rename or remove anything and do not change the API.",
      "fix: the bug / !Don't rename or remove anything / !do not change the API",
    ],
    ["Fix the bug and keep the API stable", "fix: the bug / !keep the API stable"],
    [
      "Fix the failure that occurs when running without network",
      "fix: the failure that occurs when running without network",
    ],
    [
      "Migrate the table without downtime: convert the ids, backfill the column and drop the old one",
      "migrate: the table with[convert the ids; backfill the column; drop the old one] / !without downtime",
    ],
    ["Don't touch the API, just fix the bug", "fix: the bug / !Don't touch the API"],
  ],
  "conditions and reasons": [
    ["Fix the crash because users complain", "fix: the crash"],
    ["Add a button so that users can log out and see their orders", "add: a button"],
    ["If the tests fail, fix them and open an issue", "fix: them / open: an issue"],
    ["When I click save, the app crashes.", "?: When I click save, the app crashes"],
    ["Search is slow, fix it", "fix: it"],
    ["When a user leaves, their orders should be deleted", "delete: their orders"],
    ["In src/a.ts, rename foo to bar", "rename: foo to bar"],
  ],
  "what asks for nothing itself": [
    ["Build fails on Windows. Please fix it.", "fix: it"],
    ["The build is slow. The tests are flaky.", "?: The build is slow. The tests are flaky"],
    ["Why is the build slow?", "?: Why is the build slow"],
    [
      "Test coverage is low. Write tests for src/a.ts, src/b.ts and src/c.ts.",
      "write: tests each[src/a.ts; src/b.ts; src/c.ts]",
    ],
  ],
};

for (const [what, examples] of Object.entries(EXAMPLES)) {
  for (const [request, expected] of examples) {
    test(`reads ${what}: ${JSON.stringify(request.slice(0, 60))}`, () => {
      assert.equal(shown(readRequest(request, WORDS)), expected);
    });
  }
}
