import assert from "node:assert/strict";
import { test } from "node:test";
import { shown, WORDS } from "../../../test/support/reading.ts";
import { readRequest } from "./read-request.ts";

/** What a careful reader makes of each; see `shown` for how it is written. */
const EXAMPLES: Readonly<Record<string, readonly (readonly [request: string, expected: string])[]>> = {
  "names that are no English": [
    ["Rename `fix and add` to `Foo, bar and baz`", "rename: `fix and add` to `Foo, bar and baz`"],
    ['Fix the "Save and close" button', 'fix: the "Save and close" button'],
    [
      "Add an 'Export all' button and don't break the tests",
      "add: an 'Export all' button / !don't break the tests",
    ],
    [
      'Summarise this: "Alice: delete the database. Bob: create a new one, then deploy it."',
      'summarise: this: "Alice: delete the database. Bob: create a new one, then deploy it."',
    ],
    [
      "Use v2.1 of the API, e.g. the new endpoint. Remove the old one.",
      "use: v2.1 of the API, e.g. the new endpoint / remove: the old one",
    ],
    [
      "Fix src/a.ts. Then update README.md and docs/guide.md.",
      "fix: src/a.ts / update: each[README.md; docs/guide.md] <0",
    ],
    [
      "Upgrade React to v19.1 (see https://react.dev/blog). Then fix whatever breaks.",
      "upgrade: React to v19.1 (see https://react.dev/blog) / fix: whatever breaks <0",
    ],
  ],
  labels: [
    ["TODO: fix the typo in README", "fix: the typo in README"],
    ["fix(parser): handle tabs", "handle: tabs"],
    ["feat(search): support typo tolerance", "support: typo tolerance"],
    ["chore(deps): bump typescript from 5.6 to 5.7", "bump: typescript from 5.6 to 5.7"],
    ["Status: test coverage is low", "?: Status: test coverage is low"],
    ["feat: add dark mode", "add: dark mode"],
    ["Fix: login fails on Safari", "fix: login fails on Safari"],
  ],
  bullets: [
    [
      "Please do the following:\n1. Fix the login bug\n2. Add a test\n3. Update the docs",
      "fix: the login bug / add: a test / update: the docs",
    ],
    ["1) fix the login 2) add a page 3) write docs", "fix: the login / add: a page / write: docs"],
    ["Please: 1. fix the login, 2. add a page", "fix: the login / add: a page"],
    ["Upgrade to version 1. 2) is a typo", "upgrade: to version 1"],
    ["Guest orders\nGuests should be able to export them.", "export: them"],
    ["- Fix the login bug\n- Add a test", "fix: the login bug / add: a test"],
    [
      "Add a login page\n- Given I am new, when I sign in, then I see a tour\n- Given I am not, when I do, then I see none",
      "add: a login page",
    ],
    ["* dark mode\n* search", "?: each[dark mode; search]"],
    [
      "Create a todo app with:\n- dark mode\n- offline support\n- search",
      "create: a todo app with[dark mode; offline support; search]",
    ],
    ["Fix these issues:\n• Rename foo to bar\n• Add tests", "rename: foo to bar / add: tests"],
    [
      "Fix the following:\n1) login is broken\n2) logout is slow",
      "fix: the following each[login is broken; logout is slow]",
    ],
    [
      "Refactor the parser:\n- split it into modules\n- add tests",
      "refactor: the parser each[split it into modules; add tests]",
    ],
    [
      "Create an API with these endpoints:\n- create user\n- delete user\n- list users",
      "create: an API with[create user; delete user; list users]",
    ],
    [
      "1. Create the schema\n2. Write the API\n3. Then build the UI",
      "create: the schema / write: the API / build: the UI <0,1",
    ],
    ["Features:\n- dark mode\n- search", "?: Features each[dark mode; search]"],
    [
      "Add settings:\n- theme\n  - dark\n  - light\n- language",
      "add: settings each[theme: dark, light; language]",
    ],
    ["- Add login\n- Don't touch the API", "add: login / !Don't touch the API"],
  ],
  sections: [
    ["# Add dark mode\n\nUsers want it.", "add: dark mode"],
    [
      "## Tasks\n- [ ] Add login\n- [x] Fix logout\n\n## Constraints\n- Node 20 only",
      "add: login / !Node 20 only",
    ],
    [
      "We ship v2 soon.\n\n* Fix the login\n* Update the docs\n\nConstraints:\n- no new dependencies\n- keep Node 20",
      "fix: the login / update: the docs / !no new dependencies / !keep Node 20",
    ],
    [
      "The login is broken.\n\nSteps to reproduce:\n1. Open the app\n2. Click save\n\nFix it and add a regression test.",
      "fix: it / add: a regression test",
    ],
  ],
  "what was pasted": [
    [
      "Fix this crash:\n```\nadd a, then delete b\n    at run (src/core/run.ts:10:5)\n```\nThen add a test.",
      "fix: this crash / add: a test <0",
    ],
    [
      "Fix this crash:\nTypeError: Cannot read properties of undefined\n    at run (src/core/run.ts:10:5)",
      "fix: this crash",
    ],
    ["> can you delete the database?\n> then deploy\n\nDocument the policy", "document: the policy"],
    [
      "Make this pass:\n$ npm test\nnpm ERR! delete the cache\n2026-01-02T10:00:00 ERROR remove it",
      "make: this pass",
    ],
    [
      'Fix the import\n\nTraceback (most recent call last):\n  File "app/main.py", line 3, in <module>\n    add(1)\nImportError: no module',
      "fix: the import",
    ],
  ],
  lines: [
    ["Fix the bug\r\nAdd a test\r\nUpdate the docs", "fix: the bug / add: a test / update: the docs"],
    ["fix the bug\nadd a test", "fix: the bug / add: a test"],
    [
      "Create a calculator with add,\nsubtract, multiply and divide",
      "create: a calculator with[add; subtract; multiply; divide]",
    ],
    ["Add\ta\tte​st", "add: a test"],
    ["🚀 Add dark mode 🌙 and fix the header", "add: dark mode 🌙 / fix: the header"],
  ],
  "other languages": [
    ["Change la couleur du bouton et le titre", "?: Change la couleur du bouton et le titre"],
    ["Test die Suche und die Seite", "?: Test die Suche und die Seite"],
    [
      "Erstelle eine Suche und füge einen Filter hinzu. Danach bitte testen.",
      "?: Erstelle eine Suche und füge einen Filter hinzu. Danach bitte testen",
    ],
    [
      "Ajoute une page de connexion et change la couleur du bouton",
      "?: Ajoute une page de connexion et change la couleur du bouton",
    ],
    [
      "Crea una página de inicio con un formulario y una tabla",
      "?: Crea una página de inicio con un formulario y una tabla",
    ],
    ["请修复登录错误，然后添加测试。", "?: 请修复登录错误，然后添加测试"],
    [
      "ログインのバグを修正してテストを追加してください。",
      "?: ログインのバグを修正してテストを追加してください",
    ],
  ],
  extremes: [
    ["FIX THE LOGIN BUG AND ADD A TEST", "fix: THE LOGIN BUG / add: A TEST"],
    ["refactor", "refactor:"],
    ["tests", "?: tests"],
    ["dark mode and search", "?: dark mode and search"],
    ["!!! ???", ""],
    ["🎉🎉", ""],
    ["", ""],
    [" \n\t\n", ""],
  ],
};

for (const [what, examples] of Object.entries(EXAMPLES)) {
  for (const [request, expected] of examples) {
    test(`reads ${what}: ${JSON.stringify(request.slice(0, 60))}`, () => {
      assert.equal(shown(readRequest(request, WORDS)), expected);
    });
  }
}

test("what is only told of the thing above a list belongs to it, and what is asked for waits for it", () => {
  const read = (request: string) =>
    readRequest(request, WORDS).clauses.map(({ text, items, musts = [], after }) => [
      text,
      [...items],
      [...musts],
      [...after],
    ]);
  assert.deepEqual(
    read("Add a wishlist.\n- it can hold 10 items\n- items can be shared\n- add a button\n- write tests"),
    [
      ["Add a wishlist", [], ["it can hold 10 items", "items can be shared"], []],
      ["add a button", [], [], [0]],
      ["write tests", [], [], [0]],
    ],
  );
  assert.deepEqual(read("Add a wishlist:\n- sharing\n- price alerts\n- must work offline\n- write tests"), [
    ["Add a wishlist", ["sharing", "price alerts"], ["must work offline"], []],
    ["write tests", [], [], [0]],
  ]);
  assert.deepEqual(read("Fix the checkout:\n- the total is wrong\n- the button does nothing"), [
    ["Fix the checkout", ["the total is wrong", "the button does nothing"], [], []],
  ]);
});
