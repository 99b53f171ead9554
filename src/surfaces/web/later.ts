/** Computes slow values in a separate task, so that drawing does not wait for them. */
import { useEffect, useRef, useState } from "preact/hooks";

/** A computation may take at most this fraction of the page's time: 1/SHARE. */
const SHARE = 20;

/** The newest computed value, computed again when `when` changes; `first` until there is one. */
export function useLater<T>(compute: () => T, when: readonly unknown[], first: T): T {
  const [value, setValue] = useState(first);
  const notBefore = useRef(0);
  useEffect(() => {
    let timer = setTimeout(() => {
      const started = performance.now();
      const next = compute();
      const now = performance.now();
      notBefore.current = now + (now - started) * SHARE;
      timer = setTimeout(() => setValue(next)); // Drawn in another task.
    }, notBefore.current - performance.now());
    return () => clearTimeout(timer);
  }, when);
  return value;
}
