/**
 * `offshoot completions SHELL`: prints a script made from the table of commands, and the words that the script looks
 * up.
 */

import { Failure } from "../../base/failure.ts";
import type { CliCommand, CommandCall } from "../command.ts";
import { renderBash } from "../completions/bash.ts";
import { renderFish } from "../completions/fish.ts";
import { renderZsh } from "../completions/zsh.ts";
import type { Io } from "../io.ts";

const SHELLS: Readonly<Record<string, typeof renderBash>> = {
  bash: renderBash,
  zsh: renderZsh,
  fish: renderFish,
};

/** `main.ts` passes the table: importing it here would make a circle of imports. */
interface CompletionsCall extends CommandCall {
  readonly commands?: Readonly<Record<string, CliCommand>>;
}

export async function run({ words, commands = {} }: CompletionsCall, io: Io): Promise<number> {
  if (words[0] === "words") {
    const { listWords } = await import("../completions/words.ts");
    const found = await listWords(words[1] ?? "", io);
    await io.stdout.write(found.map((word) => `${word}\n`).join(""));
    return 0;
  }
  const render = SHELLS[words[0] ?? ""];
  if (!render) {
    const shells = Object.keys(SHELLS).join(", ");
    throw new Failure("invalid_request", `Name your shell: ${shells}.`);
  }
  await io.stdout.write(render(commands));
  return 0;
}
