/**
 * `offshoot runs replay`: runs a recorded tree again, and shows the first difference from its record.
 */

import { Failure } from "../../base/failure.ts";
import { clip, plural } from "../../base/text.ts";
import type { RunRecord } from "../../protocol/run-record.ts";
import type { Config } from "../../runtime/config/config.ts";
import type { ReplayChange, Replayed } from "../../runtime/replay.ts";
import type { CommandCall, Options } from "../command.ts";
import type { Io } from "../io.ts";
import { openAgain } from "../open-again.ts";
import { cleanForTerminal } from "../terminal.ts";

interface Replaying {
  readonly change: ReplayChange | undefined;
  readonly call: CommandCall;
  readonly config: Config;
  readonly io: Io;
}

/** Resolves with the exit code: 1 if the replay differs from the record. */
export async function replay(
  stored: RunRecord,
  { change, call: { options }, config, io }: Replaying,
): Promise<number> {
  const runtime = await openAgain(stored, config, io);
  try {
    const replayed = await runtime.replay({ id: stored.id, change });
    const { divergence, left, runs, end } = replayed;
    if (options["json"]) {
      await io.stdout.write(
        `${JSON.stringify({ runs, left, divergence: divergence ?? null, end })}\n`,
      );
    } else {
      await io.stdout.write(cleanForTerminal(render(replayed, change)));
    }
    return divergence ? 1 : 0;
  } finally {
    await runtime.close();
  }
}

/** `--from NODE --with prompt=TEXT`: both or neither. */
export function readChange(options: Options): ReplayChange | undefined {
  const { from: node, with: given } = options;
  if (node === undefined && given === undefined) return undefined;
  if (typeof given !== "string") {
    throw refuse("`--from` needs `--with prompt=TEXT` beside it: what the run is asked instead.");
  }
  const [, prompt] = /^prompt=(.+)$/s.exec(given) ?? [];
  if (prompt === undefined) {
    throw refuse(
      `\`--with\` changes the prompt alone: \`prompt=TEXT\`, not \`${clip(given, 60)}\`.`,
    );
  }
  if (typeof node === "string") return { node, prompt };
  throw refuse(
    "`--with` needs `--from NODE` beside it: the run that is changed. `offshoot runs tree ID` names them.",
  );
}

function refuse(message: string): Failure {
  return new Failure("invalid_request", message);
}

function render({ divergence, left, runs, end }: Replayed, change?: ReplayChange): string {
  if (divergence) {
    const { path, seq, recorded, replayed } = divergence;
    return [
      `The replay differs from the record in ${path}, at event ${seq}:`,
      `  recorded  ${clip(recorded, 400)}`,
      `  replayed  ${clip(replayed, 400)}`,
      "",
    ].join("\n");
  }
  if (!change)
    return `${plural(runs, "run")} replayed: the same as recorded, and nothing was sent.\n`;
  const lines = left.map(({ path, what }) => `ran again  ${path}: ${what}`);
  return [`changed    ${change.node}`, ...lines, `${end.ending}: ${end.output_text}`, ""].join(
    "\n",
  );
}
