/** Does nobody listen where a server on this machine should be? Said at once, before any turn is spent on it. */
import { connect } from "node:net";

/** False for other machines: a way there may lead over what only the provider's own library knows of. */
export async function nobodyListens(address: string, signal: AbortSignal): Promise<boolean> {
  const url = URL.parse(address);
  if (signal.aborted || !url || !LOOPBACK.has(url.hostname)) return false;
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host: url.hostname.replace(/^\[|\]$/g, ""), port });
  const stop = () => resolve(false); // Whoever takes long is there.
  signal.addEventListener("abort", stop, { once: true });
  socket.once("connect", () => resolve(false));
  socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  const isNobody = await promise;
  signal.removeEventListener("abort", stop);
  socket.destroy();
  return isNobody;
}

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);
