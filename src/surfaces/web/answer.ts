/** Asks the server something once, and again when `when` changes; undefined until it has answered. */
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
