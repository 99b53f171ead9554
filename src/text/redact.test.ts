/** Tests that secrets, and nothing else, are redacted, wherever a text is cut into pieces. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { cpuMs } from "../../test/support/cpu.ts";
import {
  looksSecret,
  redactCommand,
  redactFields,
  redactor,
  secretsInCommand,
  secretsOf,
  streamRedactor,
} from "./redact.ts";

const plain = redactor([]);

describe("redactor", () => {
  const hidden: readonly (readonly [string, string, string])[] = [
    ["a key of OpenAI", "key sk-proj-abcDEF0123456789_xyz!", "key [redacted]!"],
    ["a key of Anthropic", "sk-ant-api03-abcdefghijklmnop", "[redacted]"],
    ["tokens of GitHub", "ghp_0123456789abcdefghij gho_0123456789abcdefghij", "[redacted] [redacted]"],
    ["a fine-grained token", "github_pat_11ABCDEFG0123456789_abc", "[redacted]"],
    ["a key of AWS", "AKIAIOSFODNN7EXAMPLE.", "[redacted]."],
    ["a token of Slack", "xoxb-1234567890-abcdef", "[redacted]"],
    ["a bearer token", "Authorization: Bearer abcdefghijklmnop.qrs", "Authorization: Bearer [redacted]"],
    ["a password in an address", "https://me:hunter2@host/x", "https://me:[redacted]@host/x"],
    [
      "a password in a query",
      "https://host/x?a=1&password=hunter2&b=2",
      "https://host/x?a=1&password=[redacted]&b=2",
    ],
    ["a line of an environment", "MY_API_KEY=abcdefgh1", "MY_API_KEY=[redacted]"],
    ["a word of a command", "deploy --api-token=abcdefgh1 now", "deploy --api-token=[redacted] now"],
    ["a web token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.SflKxwRJSM", "[redacted]"],
    [
      "a private key",
      "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE+/=\nabc\n-----END RSA PRIVATE KEY-----\nb",
      "a\n[redacted]\nb",
    ],
  ];
  for (const [what, text, shown] of hidden) test(`hides ${what}`, () => assert.equal(plain(text), shown));

  for (const text of [
    "the task-list of disk-usage",
    "sk-short",
    "a: https://host:8080/x@y",
    "token: string;",
    "deploy --token=$DEPLOY_TOKEN --max-tokens=100000000",
  ]) {
    test(`leaves ${text} alone`, () => assert.equal(plain(text), text));
  }

  test("hides given values, also as they stand in an address or in JSON", () => {
    const redact = redactor(['p"ss word/1']);
    assert.equal(
      redact('p"ss word/1 p%22ss%20word%2F1 {"p":"p\\"ss word/1"}'),
      '[redacted] [redacted] {"p":"[redacted]"}',
    );
  });

  test("hides the longer of two values of which one begins the other", () => {
    assert.equal(redactor(["abcdefgh", "abcdefghij"])("abcdefghij"), "[redacted]");
  });

  test("hides all of two values that overlap", () => {
    assert.equal(redactor(["sk-abcdefghijklmnop!tail"])("sk-abcdefghijklmnop!tail"), "[redacted]");
  });

  test("leaves short values alone", () => assert.equal(redactor(["a", "1234567"])("a 1234567"), "a 1234567"));

  test("takes time that grows with the text alone", () => {
    const traps = [
      "sk-",
      "eyJ-",
      "-----BEGIN RSA PRIVATE KEY-----",
      "://a:",
      "Bearer ",
      "KEY",
      "A_KEY",
      "eyJaaaaaaaaaaaa.",
    ];
    for (const trap of traps) {
      const time = (chars: number) => {
        const text = trap.repeat(chars / trap.length);
        const start = cpuMs();
        plain(text);
        return cpuMs() - start;
      };
      time(100_000);
      const [small, large] = [time(100_000), time(1_600_000)];
      assert.ok(large < Math.max(small, 5) * 16 * 6, `${trap}: ${small} ms, then ${large} ms`);
    }
  });
});

describe("streamRedactor", () => {
  const secrets = ["s3cret value\nof two lines", "another-one"];
  const whole = redactor(secrets);
  const parts = [
    ...[
      "s3cret value\nof two lines",
      "another-one",
      "sk-abcdefghijklmnopqrst",
      "Bearer abcdefghijklmnopqr",
      " ",
      "\n",
    ],
    ...[
      "-----BEGIN PRIVATE KEY-----\nabc\nDEF\n-----END PRIVATE KEY-----",
      "word",
      "https://u:pw@h",
      "ü€😀",
      "Bearer",
    ],
    ...['"token": "a1b2c3d4e5"', "password:", "hunter2hunter2", "Authorization:", "Cookie: a=b; c=d", "\r\n"],
  ];

  test("shows the same as the redactor of the whole, wherever the text is cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...parts), { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 20 }),
        (words, sizes) => {
          const text = words.join(" ");
          const stream = streamRedactor(secrets);
          let shown = "";
          for (let at = 0, turn = 0; at < text.length; turn += 1) {
            const size = sizes[turn % sizes.length] as number;
            shown += stream.write(text.slice(at, at + size));
            at += size;
          }
          assert.equal(shown + stream.end(), whole(text));
        },
      ),
      { numRuns: 500 },
    );
  });

  test("shows a line as soon as it is whole", () => {
    assert.equal(streamRedactor([]).write("one line\nhalf a"), "one line\n");
  });

  test("holds back only so much of a text without spaces", () => {
    const stream = streamRedactor([]);
    let shown = 0;
    for (let i = 0; i < 100; i += 1) shown += stream.write("x.".repeat(1_000)).length;
    assert.ok(200_000 - shown <= 17_000, `${shown} of 200000 shown`);
    assert.equal(shown + stream.end().length, 200_000);
  });

  test("shows no secret in a line that is too long to be held, wherever it is cut", () => {
    const secret = "3f9a0c7be1d245863f9a0c7be1d24586";
    const parts = [
      `"token": "${secret}", `,
      `"key":"sk-${secret}",`,
      `password: ${secret} `,
      `x`.repeat(300),
      "a b, ",
    ];
    const line = Array.from({ length: 600 }, (_, at) => parts[(at * 7) % parts.length]).join("");
    for (const size of [311, 4_001, 16_385]) {
      const stream = streamRedactor([]);
      let shown = "";
      for (let at = 0; at < line.length; at += size) shown += stream.write(line.slice(at, at + size));
      shown += stream.end();
      assert.ok(!/[0-9a-f]{20}/.test(shown), `pieces of ${size}`);
      assert.ok(shown.length > 30_000);
    }
  });

  test("shows nothing of a secret that is too long to be held", () => {
    const stream = streamRedactor([]);
    let shown = stream.write(`sk-${"a".repeat(20_000)}`);
    shown += stream.write("a".repeat(10_000));
    shown += stream.write("aaa then\n");
    assert.equal(shown + stream.end(), "[redacted] then\n");
  });
});

test("a command's line shows no value that its name calls secret, however short; references and numbers stay", () => {
  const shown = (line: string) => redactCommand(line, plain);
  assert.equal(shown("TOKEN=abc npm test"), "TOKEN=[redacted] npm test");
  assert.equal(
    shown(`cd a && API_KEY='a b' make --password x`),
    "cd a && API_KEY=[redacted] make --password [redacted]",
  );
  assert.equal(shown("deploy --api-key=abc -k v"), "deploy --api-key=[redacted] -k v");
  for (const line of [
    "npm test -- --grep pass",
    "TOKEN=$TOKEN make",
    "run --max-tokens 100 --key --verbose",
    "go vet ./...",
  ])
    assert.equal(shown(line), line);
  assert.deepEqual(secretsInCommand(`A_TOKEN="one two" b --secret three --token $T`), ["one two", "three"]);
});

test("looksSecret goes by the parts of a name", () => {
  for (const name of ["API_KEY", "GITHUB_TOKEN", "PGPASSWORD", "AWS_SECRET_ACCESS_KEY", "npm_config__auth"]) {
    assert.ok(looksSecret(name), name);
  }
  for (const name of ["PATH", "KEYBOARD", "HOME", "MONKEY_BUSINESS", "LANG"])
    assert.ok(!looksSecret(name), name);
});

test("secretsOf takes the values of secret names, if they are long enough", () => {
  assert.deepEqual(secretsOf({ A_TOKEN: "12345678", B_KEY: "1234567", PATH: "/usr/bin", C_KEY: undefined }), [
    "12345678",
  ]);
});

describe("an answer with secrets in its strings", () => {
  const texts = [
    'the test needs "API_TOKEN=xxxxxxxx" set',
    "see https://u:p4ssw0rd@host/?token=abcdefgh&x=1",
    "KEY='abcdefghij' and \\ a backslash",
    "redis://cache:6379",
    "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
    "PASSWORD=abcdefgh\\",
    "-----BEGIN PRIVATE KEY-----\nabc\\",
  ];
  test("is as much JSON as before, with everything else in it", () => {
    for (const text of texts) {
      for (const json of [
        { summary: text, status: "blocked" },
        { status: "failed", concerns: [text, "a@b"] },
      ]) {
        const read = JSON.parse(redactor(["hunter2hunter2"])(JSON.stringify(json))) as { status: string };
        assert.equal(read.status, json.status, text);
      }
    }
  });
});

test("the names of variables that agents may see are no secrets", () => {
  assert.deepEqual(secretsOf({ SKEIN_WORKSPACE_PASS: "MY_VARIABLE,OTHER", MY_PASS: "hunter2hunter2" }), [
    "hunter2hunter2",
  ]);
});

test("blots out what a name in an object calls a secret, the names themselves, and goes no deeper than it can", () => {
  const redact = redactor([]);
  const given = {
    password: "correct horse",
    ...{
      api_key: "zzzzzzzzzzzz",
      dbToken: "yyyyyyyyyyyy",
      pass: "x",
      key: "ordinary",
      tokens: "many words",
    },
    nested: [{ clientSecret: "wwwwwwwwwwww" }],
  };
  assert.deepEqual(redactFields(given, redact), {
    password: "[redacted]",
    ...{ api_key: "[redacted]", dbToken: "[redacted]", pass: "x", key: "ordinary", tokens: "many words" },
    nested: [{ clientSecret: "[redacted]" }],
  });
  let deep: object = {};
  for (let i = 0; i < 20_000; i += 1) deep = { deep };
  assert.match(JSON.stringify(redactFields(deep, redact)), /nested too deep/);
});
