/** Limits the connections to a server that ask nothing, so that they shut nobody out. */
import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Browsers and agents keep a few; of more, the oldest makes room for who asks. */
const MAX_SILENT = 100;

export function dropSilent(server: Server): void {
  // By its other end: with TLS, a request comes on another socket than its connection.
  const nameOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
  const silent = new Map<string, Socket>();
  server.on("connection", (socket) => {
    const name = nameOf(socket);
    silent.set(name, socket);
    socket.once("close", () => silent.delete(name));
    const [oldest] = silent.values();
    if (silent.size > MAX_SILENT) oldest?.destroy();
  });
  server.on("request", ({ socket }, response) => {
    const name = nameOf(socket);
    const asking = silent.get(name);
    silent.delete(name);
    response.once("close", () => asking && !asking.destroyed && silent.set(name, asking));
  });
}
