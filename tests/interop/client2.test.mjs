// The second generation's client package in its default mode, the initialize handshake.
import { client2 } from "./client2.mjs";
import { contract } from "./contract.mjs";

const peer = client2({ title: "client 2.x", name: "client2" });

contract(peer, "http");
contract(peer, "stdio");
