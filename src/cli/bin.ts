#!/usr/bin/env node
/** The entry point of the command. No other file ends the process. */

import module from "node:module";
import { main, report } from "./main.ts";
import { createProcessIo } from "./process-io.ts";

// Node 22 and up keep compiled code between starts; the commands are loaded after this.
(module as { enableCompileCache?: () => unknown }).enableCompileCache?.();

// Amazon's code warns about older runtimes on standard error, which is reserved for what the user must know.
process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";

const io = createProcessIo((exitCode) => process.exit(exitCode));

// A rejection without a handler is a defect. It prints one clean line like every other failure.
process.on("uncaughtException", (thrown) => {
  void report(thrown, io).then((exitCode) => process.exit(exitCode));
});

// A signal without a handler ends the process here, so that everything it started is ended too. Registered first, so
// that later handlers are still counted.
for (const [signal, number] of [
  ["SIGHUP", 1],
  ["SIGINT", 2],
  ["SIGTERM", 15],
] as const) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(128 + number);
  });
}

// The exit code is set, not forced: output to a slow reader still goes out. Not awaited: the bundle is CommonJS,
// which starts faster and has no top-level await.
void main(process.argv.slice(2), io).then((exitCode) => {
  process.exitCode = exitCode;
});
