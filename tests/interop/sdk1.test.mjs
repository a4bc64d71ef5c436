// The first generation of the official SDK, which most hosts are built with.
import { sdk1 } from "./clients.mjs";
import { contract } from "./contract.mjs";

contract(sdk1, "http");
contract(sdk1, "stdio");
contract(sdk1, "sse");
