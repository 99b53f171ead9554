/** `skein serve`: serves the runs of this repository as a web page, by default only to this machine. */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { partsOf } from "../../../compose/parts.ts";
import { listen, serverParts, type Tls } from "../../../compose/serve.ts";
import { messageOf } from "../../../core/failure.ts";
import { hasFailed } from "../../../core/result.ts";
import type { Devices } from "../../../ports/devices.ts";
import { Access } from "../../http/access.ts";
import { findPage } from "../../http/page.ts";
import { createServerApp } from "../../http/server.ts";
import { hasExit, openHere } from "../acts/project.ts";
import { stopOnSignal } from "../acts/signals.ts";
import { type Act, refuse, say, usage, writeJson } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { type AddTo, addRepo, examples, type RepoOption } from "./options.ts";

type ServeOptions = RepoOption & {
  readonly port: string;
  readonly host: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly behindProxy?: string;
};

export const addServe: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Shows the runs of this repository as a web page: tasks as a graph and over time, landings with their proofs, " +
        "transcripts, cost, and what needs you. The printed address lets in one browser; then the next is printed.",
    )
    .option("--port <port>", "the port to listen on; 0: any free port", "0")
    .option(
      "--host <address>",
      "the address to listen on; any other than this machine's own needs TLS or a proxy",
      "127.0.0.1",
    )
    .option("--tls-cert <file>", "certificate, in PEM")
    .option("--tls-key <file>", "its private key, in PEM")
    .option("--behind-proxy <host>", "the host name of a TLS proxy in front of this server")
    .addHelpText(
      "after",
      examples(
        "skein serve",
        "skein serve --port 4000",
        "skein serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem",
      ),
    )
    .action((options: ServeOptions) => perform((context) => serve(context, options)));
};

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);

const serve: Act<ServeOptions> = async (context, options) => {
  const { host, behindProxy } = options;
  const port = Number(options.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    return usage(context, `--port ${options.port} is not a port`, "a number from 0 to 65535");
  if (behindProxy !== undefined && !/^[\w.-]+(?::\d+)?$/.test(behindProxy))
    return usage(context, `--behind-proxy ${behindProxy} is not a host name`, "such as skein.example.com");
  const tls = readTls(options);
  if (typeof tls === "string") return usage(context, tls, "give both --tls-cert and --tls-key");
  if (!LOOPBACK.has(host) && !tls && behindProxy === undefined)
    return usage(
      context,
      `--host ${host} would send everything readable over the network`,
      "give --tls-cert and --tls-key, or --behind-proxy <name> if a proxy adds TLS",
    );
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const hosts = new Set<string>();
  const page = findPage();
  if (page === undefined)
    return refuse(context, EXIT.configuration, {
      kind: "configuration",
      message: "the web page was not built in this checkout",
      next: "npm run build:web",
    });
  const { devices, ...found } = serverParts(project);
  const problem = unwritable(devices);
  if (problem !== undefined) return refuse(context, EXIT.configuration, problem);
  const parts = {
    ...found,
    ...partsOf(project, context.env),
    access: new Access(devices, () => sayAddress("another browser, once")),
    page,
    hosts,
  };
  const server = await listen(createServerApp(parts).fetch, { host, port, ...(tls && { tls }) });
  if (hasFailed(server)) return refuse(context, EXIT.configuration, server.failure);
  using stop = stopOnSignal();
  const { port: listening } = server;
  const names = behindProxy === undefined ? namesOf(host, tls) : [behindProxy, ...namesOf(host, tls)];
  for (const name of names) {
    hosts.add(`${inAddress(name)}:${server.port}`);
    if (name === behindProxy) hosts.add(inAddress(name));
  }
  const shown = behindProxy ?? `${inAddress(names[0] ?? host)}:${server.port}`;
  const entry = new URL(`${tls || behindProxy !== undefined ? "https" : "http"}://${shown}/`);
  function sayAddress(lets: string): void {
    // After the #, which browsers send neither to a server nor in a referrer.
    entry.hash = `sign-in=${parts.access.link}`;
    if (context.json) writeJson(context, { address: entry.href, port: listening });
    else say(context, `Open ${entry.href} (lets in ${lets})`);
  }
  sayAddress("one browser, once");
  if (!context.json)
    say(
      context,
      "A browser that is let in can see and steer the runs of this repository, and deliver them. Ctrl-C ends the " +
        "server, not the runs.",
    );
  await new Promise<void>((resolve) => {
    if (stop.signal.aborted) resolve();
    stop.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await server.close();
  return EXIT.done;
};

/** Checked at the start, because the server must store each browser that it lets in. */
function unwritable(devices: Devices) {
  try {
    devices.write(devices.read());
    return undefined;
  } catch (error) {
    return {
      kind: "configuration",
      message: `the list of browsers that are let in cannot be kept: ${messageOf(error)}`,
      next: "make the state folder writable, or name another one: SKEIN_STATE_DIR",
    };
  }
}

/** The names by which browsers may call this server, the best first. The certificate's names come first. */
function namesOf(host: string, tls: Tls | undefined): readonly string[] {
  const certified = tls === undefined ? [] : certifiedNames(tls.cert);
  return [...certified, host, ...(LOOPBACK.has(host) ? LOOPBACK : [])];
}

/** Names in "DNS:skein.example, IP Address:10.0.0.2", without wildcards. */
const certifiedNames = (cert: string): readonly string[] =>
  (new X509Certificate(cert).subjectAltName ?? "")
    .split(", ")
    .map((name) => name.replace(/^(?:DNS|IP Address):/, ""))
    .filter((name) => name !== "" && !name.includes("*"));

/** An IPv6 address gets brackets. */
const inAddress = (name: string): string =>
  name.includes(":") && !name.startsWith("[") ? `[${name}]` : name.toLowerCase();

/** Returns a text if something is wrong. */
function readTls({ tlsCert, tlsKey }: ServeOptions): Tls | undefined | string {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) return "--tls-cert and --tls-key belong together";
  try {
    const tls = { cert: readFileSync(tlsCert, "utf8"), key: readFileSync(tlsKey, "utf8") };
    createSecureContext(tls); // Throws if certificate and key do not match.
    return tls;
  } catch (error) {
    return messageOf(error);
  }
}
