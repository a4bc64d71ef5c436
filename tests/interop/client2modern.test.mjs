// The second generation's client package in revision 2026-07-28: found by asking, and insisted on.
import { client2 } from "./client2.mjs";
import { contract } from "./contract.mjs";

const revision = "2026-07-28";
const modern = (name, mode) =>
  client2({
    title: `client 2.x (${name})`,
    name,
    revision,
    options: { versionNegotiation: { mode } },
  });

for (const peer of [modern("auto", "auto"), modern("pin", { pin: revision })]) {
  contract(peer, "http");
  contract(peer, "stdio");
}
