// The second generation's client package in revision 2026-07-28: found by asking, and insisted on.
import { client2, pinned } from "./clients.mjs";
import { contract } from "./contract.mjs";

for (const peer of [client2("auto", "auto"), pinned]) {
  contract(peer, "http");
  contract(peer, "stdio");
}
