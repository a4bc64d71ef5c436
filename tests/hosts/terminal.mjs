// A terminal for hosts that want one: a pseudo-terminal of script(1) and the screen of xterm.js,
// which also answers what programs ask a terminal.
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import xterm from "@xterm/headless";

const COLUMNS = 140;
const ROWS = 50;

const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;

export class Terminal {
  constructor(command, { env, cwd, log }) {
    this.screen_ = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
    const line = `stty rows ${ROWS} cols ${COLUMNS}; exec ${command.map(quoted).join(" ")}`;
    this.child = spawn("script", ["-qefc", line, "/dev/null"], { env, cwd });
    const out = createWriteStream(log);
    this.child.stdout.on("data", (bytes) => {
      out.write(bytes);
      this.screen_.write(bytes);
    });
    this.child.stdin.on("error", () => {}); // the program has ended
    this.screen_.onData((answer) => this.child.stdin.write(answer));
    this.child.once("close", () => (this.over = true));
  }

  type(keys) {
    this.child.stdin.write(keys);
  }

  /** What is on the screen now. */
  get said() {
    const buffer = this.screen_.buffer.active;
    const lines = [];
    for (let row = 0; row < ROWS; row++)
      lines.push(buffer.getLine(buffer.viewportY + row)?.translateToString(true) ?? "");
    return lines.join("\n").trimEnd();
  }
}
