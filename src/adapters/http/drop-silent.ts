/** Limits a server's connections that send no request, so that they shut out no other client. */
import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Browsers and agents keep a few idle; above this number, the oldest one is closed. */
const MAX_SILENT = 100;

export function dropSilent(server: Server): void {
  // Named by its other end, because with TLS a request comes on another socket than its connection.
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
