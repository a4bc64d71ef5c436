// The second generation's client package in its default mode, the initialize handshake.
import { client2 } from "./clients.mjs";
import { contract } from "./contract.mjs";

contract(client2(), "http");
contract(client2(), "stdio");
