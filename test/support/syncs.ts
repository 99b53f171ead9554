/** Which files and folders did this process sync, in which order? What a power cut would have left of the rest is open. */
import { open, stat } from "node:fs/promises";

type Handle = Awaited<ReturnType<typeof open>>;

export type Syncs = AsyncDisposable & {
  /** The place of a file or folder among those that were synced; -1 if it was not. By its inode, whatever its name was. */
  at(file: string): Promise<number>;
};

/** Every sync is done as well. */
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
