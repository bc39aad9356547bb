/**
 * `offshoot setup`: the first steps on a terminal; elsewhere it prints what was found as plain lines.
 */

import type { RunCommand } from "../command.ts";
import { lookAround } from "../setup/look-around.ts";
import { setUpOnTerminal } from "../setup/setup.ts";
import { toPlainLines } from "../setup/setup-text.ts";

export const run: RunCommand = async (_, io) => {
  const isPerson = io.stdin.isTerminal && io.stdout.isTerminal;
  const terminal = isPerson ? io.openTerminal() : undefined;
  if (!terminal) {
    const lines = toPlainLines(await lookAround(io));
    await io.stdout.write(`${lines.join("\n")}\n`);
    return 0;
  }
  const { interrupted, how } = await setUpOnTerminal(io, terminal);
  if (how === "done") await io.stderr.write("Talk to it: offshoot\n");
  return interrupted ? 130 : 0;
};
