#!/usr/bin/env node
/** The command. The only file that ends the process. */

import module from "node:module";
import { main, report } from "./main.ts";
import { createProcessIo } from "./process-io.ts";

// Node 22 and up keep compiled code between starts; the commands are loaded after this.
(module as { enableCompileCache?: () => unknown }).enableCompileCache?.();

// Amazon's code warns of older runtimes on standard error, which is for what the user must know.
process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";

const io = createProcessIo((exitCode) => process.exit(exitCode));

// What nobody awaited is a defect; it gets the one clean line of every other failure.
process.on("uncaughtException", (thrown) => {
  void report(thrown, io).then((exitCode) => process.exit(exitCode));
});

// A signal that nobody waits for ends the process here, not by itself: what it started is then ended
// with it. First in line, so that whoever waits is still counted.
for (const [signal, number] of [
  ["SIGHUP", 1],
  ["SIGINT", 2],
  ["SIGTERM", 15],
] as const) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(128 + number);
  });
}

// Set, not forced: what was written to a slow reader still goes out. Not awaited: the bundle is
// CommonJS, which starts faster and knows no top-level await.
void main(process.argv.slice(2), io).then((exitCode) => {
  process.exitCode = exitCode;
});
