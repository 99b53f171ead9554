/** Requests something from the server once, and again when `when` changes; undefined until the answer has arrived. */
import { useEffect, useState } from "preact/hooks";
import type { ServerAnswer } from "./api.ts";

export function useAnswer<T>(
  ask: () => Promise<ServerAnswer<T>>,
  when: readonly unknown[],
): Partial<ServerAnswer<T>> {
  const [answer, setAnswer] = useState<Partial<ServerAnswer<T>>>({});
  useEffect(() => {
    let isOld = false;
    void ask().then((now) => isOld || setAnswer(now));
    return () => {
      isOld = true;
    };
  }, when);
  return answer;
}
