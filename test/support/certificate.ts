/** Makes a self-signed certificate for tests, which only clients trust that are told to. */
import { generateKeyPairSync, sign } from "node:crypto";

/** A value in DER: its tag, its length, its parts. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const size = body.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}
const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
const oid = (...bytes: readonly number[]) => der(0x06, Buffer.from(bytes));
const number = (...bytes: readonly number[]) => der(0x02, Buffer.from(bytes));
const time = (ms: number) =>
  der(0x17, Buffer.from(`${new Date(ms).toISOString().slice(2, 19).replaceAll(/[-T:]/g, "")}Z`));

const ED25519 = sequence(oid(0x2b, 0x65, 0x70));
const ALTERNATIVE_NAMES = oid(0x55, 0x1d, 0x11);
const DAY_MS = 86_400_000;

export function makeCertificate(names: readonly string[]): { readonly cert: string; readonly key: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const spki = publicKey.export({ type: "spki", format: "der" });
  const nobody = sequence();
  const list = names.map((name) =>
    /^[\d.]+$/.test(name)
      ? der(0x87, Buffer.from(name.split(".").map(Number)))
      : der(0x82, Buffer.from(name)),
  );
  const extensions = sequence(
    sequence(ALTERNATIVE_NAMES, der(0x01, Buffer.from([255])), der(0x04, sequence(...list))),
  );
  const body = sequence(
    der(0xa0, number(2)),
    number(1),
    ED25519,
    nobody,
    sequence(time(Date.now() - DAY_MS), time(Date.now() + DAY_MS)),
    nobody,
    spki,
    der(0xa3, extensions),
  );
  const whole = sequence(body, ED25519, der(0x03, Buffer.from([0]), sign(null, body, privateKey)));
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${whole.toString("base64")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}
