/** Tests that ordinary text is not redacted: code, logs and the files of this repository. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { ROOT } from "../../tools/source-files.ts";
import { redactor } from "./redact.ts";

const plain = redactor([]);
const base64 = (count: number) => "k9+Zp/2QxL7vT0aRm4Wc".repeat(count / 20 + 1).slice(0, count);

describe("ordinary text", () => {
  const texts = [
    "commit 3f9a0c7be1d245863f9a0c7be1d245863f9a0c7b",
    "id 3f9a0c7b-e1d2-4586-9a0c-7be1d2458600 of the job",
    `"integrity": "sha512-${base64(86)}=="`,
    `data:image/png;base64,${base64(400)}`,
    "const token = nextToken();",
    "token: string; secret: Uint8Array; password?: string",
    "return { token: tokens[i], key: 'a' + b2, secret: process.env.SECRET };",
    'password: "required", token: "identifier", secret: "none"',
    "if (token === undefined || token.kind === 'word2') throw new TypeError(token);",
    "the password is wrong; a token was expected, the key 'a1b2c3d4' is missing",
    "max_tokens: 4096, cacheKey: abc12345, primaryKey=id12345678",
    "see https://example.com:8080/a/b@c?page=2#token and git@github.com:owner/repository1.git",
    "scikit sk-learn-classification-guide and risk-based-assessment-of-things-2024",
    "Basic internationalization-support and bearer of news",
    "docker run -u 1000:1000 node:24",
    "cookie: a small text that a site keeps",
    "src/auth/password-reset.test.ts:12:3 - error TS2322: Type 'string' is not assignable to type 'Token2'.",
    "TOKEN=$DEPLOY_TOKEN KEY=$" + "{API_KEY} npm test",
    "monkey=banana12345 turkey: abc123def456",
    '["/etc/passwd", "--ignore-revs-file", "x"]; options.headers.authorization = authorizationHeader',
    "echo $TOKEN | base64; sockets in C:\\\\new\\\\token; docker run -p 8080:80 key1",
    "/** Which of several it is: `SECRET_KEY_BASE`, `TOKEN_2`; `API_KEY`, `word2`. */",
    "/agreed to before:\\n {2}skein\\.yaml: workspace\\.pass: .*MY_KEY\\n/",
    'const pass = "config" in configuration; const token = "identifier";',
    "{ name: 'Password', password: 'Password', secret: 'optional', pwd: 'newPassword' }",
    "deploy --token string   the token; --password must be given, (--passphrase text)",
    "password: 'The password must have at least 8 characters'",
    '"Cache-Key: node24-abc12345" "Idempotency-Key: abc12345"',
    "src/server.ts:1234:start:error:unexpected",
    "kind: ConfigMap\ndata:\n  mode: fast-2024\n---\nkind: Secret\nmetadata:\n  name: example-2024\n---\ndata:\n  a: word-2024",
    "apiVersion: v1\nkind: Pod\ndata:\n  mode: fast-2024\nsecretKind: Secret",
    "http://localhost:3000/@scope/name@1.2.3 http://a:8080/b@example.com https://$HOST:$PORT/a@b.example.com",
    "TOKEN=$(gh auth token)\nbuild-2024\n$ gh auth token > file2024\nbuild-2024",
    "the password of the user was asked for: see docs/passwords-2024.md",
    "const token = tokens.next || 'none'; const key = process.env.API_KEY ?? 'example'",
    "$" + "{TOKEN:0:12} $" + "{PASSWORD:?it must be set} jwt.verify(token, 'the-name')",
    "the tokens of this text:\n\nsomething-of-several-words\n\npasswords:\n  integration-tests",
    "type Password { get; set; } = optional",
    'curl -H "Authorization: Bearer $SERVICE_TOKEN" -H `Authorization: Bearer $' + "{place.token}`",
    "npm_config_registry npm_lifecycle_event pypi-publish key-value-stores-of-2024",
  ];
  for (const text of texts) test(`${text.slice(0, 60)} is left alone`, () => assert.equal(plain(text), text));

  test("of this repository is left alone: its sources, its lock file, what tools wrote", () => {
    const patterns = [
      "src/**/*.ts",
      "docs/**/*.md",
      "*.md",
      "package-lock.json",
      "test/fixtures/tool-output/*",
    ];
    const own =
      /(?:redact(?:-time)?|secret-[a-z]+|doctor-values|lfs|repository-name|objects)(?:\.test)?\.ts$|(?:config|traces)\/(?:agents|asks|read|settings)\.test\.ts$/; // Examples.
    const changed = globSync(patterns, { cwd: ROOT })
      .filter((file) => !own.test(file) && !/node_modules/.test(file))
      .flatMap((file) => {
        const text = readFileSync(path.join(ROOT, file), "utf8");
        const lines = text.split("\n");
        return plain(text)
          .split("\n")
          .flatMap((line, at) => (line === lines[at] ? [] : [`${file}:${at + 1}: ${line}`]));
      });
    assert.deepEqual(changed, []);
  });
});
