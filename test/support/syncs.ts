/** Records which files and folders this process syncs, in order; a power cut may lose all that was not synced. */
import { open, stat } from "node:fs/promises";

type Handle = Awaited<ReturnType<typeof open>>;

export type Syncs = AsyncDisposable & {
  /**
   * The position of a file or folder among those synced, or -1. It is found by its inode, so its name may have changed.
   */
  at(file: string): Promise<number>;
};

/** Every sync is still carried out. */
export async function recordSyncs(): Promise<Syncs> {
  const handle = await open(".");
  await handle.close();
  const prototype = Object.getPrototypeOf(handle) as Pick<Handle, "sync">;
  const { sync } = prototype;
  const seen: string[] = [];
  const nameOf = ({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }) => `${dev}:${ino}`;
  prototype.sync = async function (this: Handle) {
    const name = nameOf(await this.stat({ bigint: true }));
    await sync.call(this);
    seen.push(name);
  };
  return {
    at: async (file) => seen.indexOf(nameOf(await stat(file, { bigint: true }))),
    [Symbol.asyncDispose]: async () => {
      prototype.sync = sync;
    },
  };
}
