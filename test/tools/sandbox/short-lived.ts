/** A program that starts a command in a sandbox and waits, to be killed by a test. */

import { openSandbox } from "../../../src/tools/sandbox/open-sandbox.ts";
import type { SandboxLevel } from "../../../src/tools/sandbox/sandbox.ts";

const [level = "", root = "", script = ""] = process.argv.slice(2);
const env = { PATH: process.env["PATH"], HOME: process.env["HOME"] };
const parts = { root, env, network: false, hidden: [], tempDir: `${root}/../temp` };
const sandbox = await openSandbox(level as SandboxLevel, parts);
await sandbox.start({ argv: ["/bin/sh", "-c", script], cwd: root });
setInterval(() => {}, 60_000);
