/**
 * Holds all runs of a process to the engine's rules. The code of a step starts no step and no child, and waits for no
 * message. Run code reads no shelf outside of steps, stages and looks that a takeover is held against. What breaks one
 * of them ends the process, with the line that did it in the trace.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { channel, subscribe } from "node:diagnostics_channel";
import type { CodeOfRun, RunCodeUse } from "../src/engine/run-code.ts";

export function holdRunCode(): void {
  const code = new AsyncLocalStorage<CodeOfRun>();
  channel("offshoot:step").bindStore(code, (entered) => entered as CodeOfRun);
  subscribe("offshoot:run-code", (message) => {
    const { run, does } = message as RunCodeUse;
    const { kind, key, run: owner } = code.getStore() ?? {};
    // A step may start a run, and what that does is its own.
    if (kind === "step" && owner === run) throw new Error(`${run} ${does} inside its step ${key}.`);
  });
  subscribe("offshoot:shelf", (message) => {
    const { kind, run } = code.getStore() ?? {};
    if (kind !== "body") return;
    const { kind: thing } = message as { readonly kind: string };
    throw new Error(`${run} reads a ${thing} outside of its steps.`);
  });
}
