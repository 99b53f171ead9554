/** Tests that redaction takes time in proportion to the text, also for texts that repeat themselves. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuMs } from "../../test/support/cpu.ts";
import { redactor } from "./redact.ts";

const plain = redactor([]);

test("shapes and names take time that grows with the text alone", () => {
  const traps = [
    ...[
      "eyJ-",
      "eyJ_",
      "eyJaaaaaaaaaaaa.",
      "sk-",
      "sk-a",
      "sk.eyJ",
      "SG.aaaaaaaaaaaaaaaaaaaa.",
      "pat",
      "key-",
      "xoxb-",
    ],
    ...[
      "password: ",
      "token=",
      'secret":"',
      "--token ",
      "authorization: ",
      "cookie: a=",
      "Bearer a",
      "-u a:",
      "//a1@",
    ],
    ...[
      "://a:",
      "://a1",
      "1//0",
      "0",
      "a",
      "login a password ",
      "identified by '",
      "-----BEGIN PRIVATE KEY-----\n",
      "a: b\n",
    ],
    ...[
      "<password ",
      "name: SECRET\n",
      '"token", ',
      'variable "token" {',
      "mysql -",
      "passphrase: a ",
      "AZDO",
      "8Q~a",
      "AKIA",
      "\u001b[1mkey",
      "Private-Lines: 1\n",
      "set -x KEY ",
      "-----END PRIVATE KEY-----",
    ],
    ...[
      'password="a ',
      "PASSWORD='a b ",
      "token: string = ",
      "password    a\n",
      "7z a -p ",
      "htpasswd -b a b ",
      "http -a a:",
      "echo a | sudo ",
      "echo a | a -",
      "sudo -S <<",
      'getConnection(a, "b", ',
      "a:5432:b:c:",
    ],
    ...[
      "-us1",
      "://a:b@c.",
      "://a:@",
      "password a ",
      "kind: Secret\n",
      "kind: Secret\ndata:\n a: b\n",
      "data:\n  a: b\nkind: Secret\n",
      '"data":{',
      "apiVersion: v1\n",
      "kubectl get secret ",
      "Password {a ",
      "$" + "{key:a",
      "secret || ",
      "jwt.sign(a, ",
      "password:\n\n",
      "kind: Secret\ndata:\n a: '\"\n",
      "0123456789:AA",
      "M.",
      "key",
      "pass",
      "\\u001b[3",
      "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n",
    ],
  ];
  for (const trap of traps) {
    const time = (chars: number) => {
      const text = trap.repeat(chars / trap.length);
      const start = cpuMs();
      plain(text);
      return cpuMs() - start;
    };
    time(20_000);
    const [small, large] = [time(20_000), time(320_000)];
    assert.ok(large < Math.max(small, 5) * 16 * 6, `${trap}: ${small} ms, then ${large} ms`);
  }
});
