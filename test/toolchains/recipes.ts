/** The repositories that are tried with real tool chains, and the outcome that each must have. */
import type { Files } from "../support/repositories.ts";

export type ToolName = "npm" | "pytest" | "go" | "cargo" | "make" | "shell";

export type Tool = {
  readonly name: ToolName;
  /** A shell command that prints the tool's version, or fails if the tool is not installed. */
  readonly version: string;
  /** The Debian packages. */
  readonly packages: readonly string[];
};

export const TOOLS: readonly Tool[] = [
  { name: "npm", version: "npm --version", packages: ["npm"] },
  { name: "pytest", version: "python3 -m pytest --version", packages: ["python3", "python3-pytest"] },
  { name: "go", version: "go version", packages: ["golang-go"] },
  { name: "cargo", version: "cargo --version", packages: ["cargo"] },
  {
    name: "make",
    version: "make --version | head -n 1; cc --version | head -n 1",
    packages: ["make", "gcc"],
  },
  { name: "shell", version: "uname -sr", packages: [] },
];

export type Recipe = {
  readonly name: string;
  readonly tool: ToolName;
  readonly files: Files;
  /** The gate's command; `$SKEIN_TRIAL_CHECKOUT` is the user's checkout. */
  readonly gate?: string;
  /** 0: the run goes on, and the probe is red as it should be. 3: the run stops before any task. */
  readonly exit: 0 | 3;
  readonly says: RegExp;
};

const PROBED = /the gate fails without your sources, as it should/;

const GO: Files = {
  "go.mod": "module example.com/shop\n\ngo 1.18\n",
  "shop.go": "package shop\n\nfunc Add(a, b int) int { return a + b }\n",
  "shop_test.go":
    'package shop\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 1) != 2 {\n\t\tt.Fatal("wrong")\n\t}\n}\n',
};
const CARGO: Files = {
  "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
  ".gitignore": "target\n",
  "src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n",
  "tests/add.rs": "#[test]\nfn adds() {\n    assert_eq!(shop::add(1, 1), 2);\n}\n",
};
const PYTHON: Files = {
  "pytest.ini": "[pytest]\n",
  ".gitignore": "__pycache__\n.pytest_cache\n",
  "shop/__init__.py": "def add(a, b):\n    return a + b\n",
  "tests/test_shop.py": "import shop\n\n\ndef test_add():\n    assert shop.add(1, 1) == 2\n",
};
const NPM: Files = {
  "package.json": JSON.stringify({ name: "shop", type: "module", scripts: { test: "node --test" } }),
  "src/sum.js": "export const sum = (a, b) => a + b;\n",
  "test/sum.test.js":
    'import assert from "node:assert";\nimport test from "node:test";\nimport { sum } from "../src/sum.js";\n\ntest("adds", () => assert.equal(sum(1, 1), 2));\n',
};
const MAKE: Files = {
  Makefile:
    "test: tests/run\n\t./tests/run\ntests/run: sum.c tests/run.c\n\tcc -o tests/run sum.c tests/run.c\n",
  ".gitignore": "tests/run\n",
  "sum.c": "int sum(int a, int b) { return a + b; }\n",
  "tests/run.c": "int sum(int, int);\nint main(void) { return sum(1, 1) == 2 ? 0 : 1; }\n",
};

export const RECIPES: readonly Recipe[] = [
  { name: "npm", tool: "npm", files: NPM, exit: 0, says: PROBED },
  { name: "pytest", tool: "pytest", files: PYTHON, exit: 0, says: PROBED },
  { name: "go", tool: "go", files: GO, exit: 0, says: PROBED },
  { name: "cargo", tool: "cargo", files: CARGO, exit: 0, says: PROBED },
  { name: "make", tool: "make", files: MAKE, exit: 0, says: PROBED },
  {
    name: "shell",
    tool: "shell",
    files: {
      "sum.sh": "sum() { echo $(($1 + $2)); }\n",
      "tests/run.sh": '. ./sum.sh\ntest "$(sum 1 1)" = 2\n',
    },
    gate: "sh tests/run.sh",
    exit: 0,
    says: PROBED,
  },
  {
    name: "npm without install",
    tool: "npm",
    files: {
      "package.json": JSON.stringify({ scripts: { test: "mocha" }, devDependencies: { mocha: "^11.0.0" } }),
      "test/a.test.js": "",
    },
    exit: 3,
    says: /mocha was not found[\s\S]*setup: npm install/,
  },
  {
    name: "pytest without a package",
    tool: "pytest",
    files: {
      ...PYTHON,
      "requirements.txt": "skein-has-no-such-package\n",
      "tests/test_more.py": "import skein_has_no_such_package\n",
    },
    exit: 3,
    says: /the package of the Python module skein_has_no_such_package is not installed/,
  },
  {
    name: "pytest with a mistyped file",
    tool: "pytest",
    files: PYTHON,
    gate: "python3 -m pytest -q tests/test_typo.py",
    exit: 3,
    says: /there is no tests\/test_typo\.py/,
  },
  {
    name: "pytest whose tests import another checkout",
    tool: "pytest",
    files: {
      "pytest.ini": "[pytest]\n",
      ".gitignore": "__pycache__\n.pytest_cache\n",
      "src/shop/__init__.py": "def add(a, b):\n    return a + b\n",
      "tests/test_shop.py": "import shop\n\n\ndef test_add():\n    assert shop.add(1, 1) == 2\n",
      "skein.yaml": "gateSandbox: off # It would hide the other checkout, and the run would stop for that.\n",
    },
    // Works like an editable installation: this Python's packages lead to the user's files.
    gate: 'PYTHONPATH="$SKEIN_TRIAL_CHECKOUT/src" python3 -m pytest -q',
    exit: 3,
    says: /your tests pass without your code/,
  },
  {
    name: "go without its modules",
    tool: "go",
    files: {
      ...GO,
      "go.mod": "module example.com/shop\n\ngo 1.18\n\nrequire example.com/skein/none v1.0.0\n",
      "shop.go":
        'package shop\n\nimport "example.com/skein/none"\n\nfunc Add(a, b int) int { return none.Add(a, b) }\n',
    },
    exit: 3,
    says: /go cannot get /,
  },
  { name: "gotest", tool: "go", files: GO, gate: "gotest ./...", exit: 3, says: /gotest was not found/ },
  {
    name: "cargo without a crate",
    tool: "cargo",
    files: {
      ...CARGO,
      "Cargo.toml": `${CARGO["Cargo.toml"]}\n[dependencies]\nskein-none = { path = "../skein-none" }\n`,
    },
    exit: 3,
    says: /cargo cannot get skein-none/,
  },
  {
    name: "make without a compiler",
    tool: "make",
    files: { ...MAKE, Makefile: `${MAKE["Makefile"]}`.replace("\tcc ", "\tskein-has-no-such-cc ") },
    exit: 3,
    says: /skein-has-no-such-cc was not found/,
  },
];
