/** `offshoot completions SHELL`: prints a script made from the table of commands. */

import { Failure } from "../../base/failure.ts";
import type { RunCommand } from "../command.ts";
// biome-ignore lint/suspicious/noImportCycles: the table loads this file only when it is called.
import { COMMANDS } from "../commands.ts";
import { renderBash } from "../completions/bash.ts";
import { renderFish } from "../completions/fish.ts";
import { renderZsh } from "../completions/zsh.ts";

const SHELLS: Readonly<Record<string, typeof renderBash>> = {
  bash: renderBash,
  zsh: renderZsh,
  fish: renderFish,
};

export const run: RunCommand = async ({ words }, io) => {
  const render = SHELLS[words[0] ?? ""];
  if (!render) {
    const shells = Object.keys(SHELLS).join(", ");
    throw new Failure("invalid_request", `Name your shell: ${shells}.`);
  }
  await io.stdout.write(render(COMMANDS));
  return 0;
};
