/** What exactly did a call send? Its messages part by part, in the bytes of the wire, but for marks of a cache. */
import assert from "node:assert/strict";
import type { SeenCall } from "./reply.ts";
import { type Fields, fieldsOf, listOf } from "./wire.ts";

/** Clients join what comes one after the other from the same side: so it is compared in parts. */
export type SentPart = { readonly role: string; readonly bytes: string };

export function sentIn({ body }: SeenCall): readonly SentPart[] {
  const fields = fieldsOf(body);
  const messages = listOf(fields["messages"] ?? fields["input"] ?? fields["contents"]).map(fieldsOf);
  return messages.filter(({ role }) => role !== "system" && role !== "developer").flatMap(partsOf);
}

/** The later call sends all that the earlier one sent, byte for byte; what it sends after that. */
export function sentAfter(earlier: SeenCall, later: SeenCall): readonly SentPart[] {
  const before = sentIn(earlier);
  const after = sentIn(later);
  for (const [n, part] of before.entries()) assert.equal(after[n]?.bytes, part.bytes, `part ${n}`);
  assert.equal(later.system, earlier.system);
  return after.slice(before.length);
}

function partsOf(message: Fields): readonly SentPart[] {
  const { content, parts, role, ...rest } = message;
  const list = Array.isArray(content) ? content : Array.isArray(parts) ? parts : undefined;
  const side = String(role ?? rest["type"] ?? "");
  if (!list) return [{ role: side, bytes: JSON.stringify(message) }];
  return list.map((part) => {
    const { cache_control: _, ...bare } = fieldsOf(part);
    return { role: side, bytes: JSON.stringify({ ...bare, ...rest }) };
  });
}
