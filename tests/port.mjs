// A free port of loopback below the kernel's ephemeral range, so that nobody else's connection takes it
// before a server does. As a program, it prints one.
import { createServer } from "node:net";
import { pathToFileURL } from "node:url";

const FIRST = 10000;
const PORTS = 20000;
const TRIES = 1000;

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

export async function freePort() {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = FIRST + Math.floor(Math.random() * PORTS);
    if (await isFree(port)) return port;
  }
  throw new Error(`${TRIES} ports from ${FIRST} on were all in use`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) console.log(await freePort());
