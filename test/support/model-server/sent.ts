/** The parts of a call's messages as bytes of the wire, without cache marks, to compare calls exactly. */
import assert from "node:assert/strict";
import type { SeenCall } from "./reply.ts";
import { type Fields, fieldsOf, listOf } from "./wire.ts";

/** Clients join neighbouring messages of one role, so calls are compared in parts. */
export type SentPart = { readonly role: string; readonly bytes: string };

export function sentIn({ body }: SeenCall): readonly SentPart[] {
  const fields = fieldsOf(body);
  const messages = listOf(fields["messages"] ?? fields["input"] ?? fields["contents"]).map(fieldsOf);
  return messages.filter(({ role }) => role !== "system" && role !== "developer").flatMap(partsOf);
}

/** Checks that the later call begins with all bytes of the earlier one, and gives the parts after them. */
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
