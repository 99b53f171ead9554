/** Wakes a reader when a file, or one whose name begins the same, changes; at the latest after a second. */
import { type FSWatcher, watch } from "node:fs";
import path from "node:path";

/** Poll interval. Watches get lost: queues overflow, and network folders have none. */
const SAFETY_MS = 1_000;

/** Misses no change after its creation: one that comes between two waits ends the next wait at once. */
export class Wakes implements Disposable {
  readonly #file: string;
  #watcher: FSWatcher | undefined;
  #isChanged = false;
  #wake: () => void = () => {};

  constructor(file: string) {
    this.#file = file;
    this.#watch();
  }

  next(signal: AbortSignal): Promise<void> {
    if (!this.#watcher) this.#watch(); // The file's folder may exist by now.
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => this.#wake(), SAFETY_MS);
    this.#wake = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", this.#wake);
      this.#isChanged = false;
      this.#wake = () => {};
      resolve();
    };
    signal.addEventListener("abort", this.#wake);
    if (this.#isChanged || signal.aborted) this.#wake();
    return promise;
  }

  readonly [Symbol.dispose] = (): void => this.close();

  close(): void {
    this.#watcher?.close();
    this.#wake();
  }

  #watch(): void {
    const name = path.basename(this.#file);
    try {
      this.#watcher = watch(path.dirname(this.#file), (_event, changed) => {
        if (changed !== null && !changed.startsWith(name)) return;
        this.#isChanged = true;
        this.#wake();
      });
      this.#watcher.on("error", () => {
        this.#watcher?.close();
        this.#watcher = undefined;
      });
    } catch {
      this.#watcher = undefined; // The folder does not exist yet, or no watches are left: the timer is enough.
    }
  }
}
