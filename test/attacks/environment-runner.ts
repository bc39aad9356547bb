/**
 * Runs every probe and prints the output of each: `node environment-runner.js LEVEL ROOT WORDS…`. A process
 * of its own, since the secrets must be in the variables and arguments of the very process that opens the
 * sandbox. `bare` means no level: the probe runs with everything this process has.
 */

import { execFile } from "node:child_process";
import { openSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { toSandboxCovers } from "../../src/runtime/sandbox-covers.ts";
import { WHOLE_GRANT } from "../../src/tools/gate/grant.ts";
import { parseRule } from "../../src/tools/gate/rules.ts";
import { openSandbox } from "../../src/tools/sandbox/open-sandbox.ts";
import { runCommand } from "../../src/tools/sandbox/run-command.ts";
import type { SandboxLevel } from "../../src/tools/sandbox/sandbox.ts";
import { PATIENCE_MS, patience } from "../patience.ts";
import { PROBES } from "./environment-rows.ts";

const [, , level = "", root = ""] = process.argv;
const home = process.env["HOME"] ?? "";
// Left open on purpose: a probe looks for the files that its parent has open.
openSync(join(home, ".aws", "credentials"), "r");

const place = level === "bare" ? { run: runBare } : await openPlace(level as SandboxLevel);
const outputs: Record<string, string> = {};
for (const { name, script } of PROBES) {
  outputs[name] = await place.run(script.replaceAll("HOME_FOLDER", home));
}
await place.close?.();
process.stdout.write(JSON.stringify(outputs));

interface ProbedPlace {
  run(script: string): Promise<string>;
  close?(): Promise<void>;
}

async function runBare(script: string): Promise<string> {
  const done = promisify(execFile)("/bin/sh", ["-c", script], { cwd: root });
  // The output of a probe before it failed counts too.
  const { stdout, stderr } = await done.catch(
    (thrown: { stdout: string; stderr: string }) => thrown,
  );
  return `${stdout}${stderr}`;
}

async function openPlace(name: SandboxLevel): Promise<ProbedPlace> {
  const sandbox = await openSandbox(name, {
    root,
    env: process.env,
    network: false,
    ...toSandboxCovers(WHOLE_GRANT, [parseRule("deny", "path(denied)", "test")]),
  });
  const options = { timeoutMs: PATIENCE_MS, maxStdoutBytes: 10_000_000, maxStderrBytes: 1_000_000 };
  return {
    async run(script) {
      const command = { argv: ["/bin/sh", "-c", script] as const, cwd: root };
      const signal = patience();
      const ran = await runCommand(sandbox, command, { ...options, signal });
      return `${ran.stdout}${ran.stderr}`;
    },
    close: sandbox.close,
  };
}
