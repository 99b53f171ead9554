/** What exactly did a call send? Its messages part by part, in the bytes of the wire, but for marks of a cache. */
import type { SeenCall } from "./reply.ts";
import { type Fields, fieldsOf, listOf } from "./wire.ts";

/** Clients join what comes one after the other from the same side: so it is compared in parts. */
export type SentPart = { readonly role: string; readonly bytes: string };

export function sentIn({ body }: SeenCall): readonly SentPart[] {
  const fields = fieldsOf(body);
  const messages = listOf(fields["messages"] ?? fields["input"] ?? fields["contents"]).map(fieldsOf);
  return messages.filter(({ role }) => role !== "system" && role !== "developer").flatMap(partsOf);
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
