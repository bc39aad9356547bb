/** `offshoot runs steer`: leaves a message for a run at work, whichever process runs it. */

import { steerRun } from "../../agent/inbox.ts";
import { Failure } from "../../base/failure.ts";
import type { RunRecord } from "../../protocol/run-record.ts";
import { readPiped } from "../input.ts";
import type { Io } from "../io.ts";
import type { OpenedRecord } from "../open-record.ts";
import { createStateOf } from "../run-state.ts";

export async function steer(
  { engine }: Pick<OpenedRecord, "engine">,
  stored: RunRecord,
  { words, io }: { readonly words: readonly string[]; readonly io: Io },
): Promise<void> {
  const { id } = stored;
  if (stored.status === "ended") throw toOver(stored);
  const text = await readMessage(words, io);
  await steerRun(engine, id, text);
  const state = await createStateOf(engine)(stored);
  const when =
    state === "interrupted"
      ? `it was interrupted, and reads it when it is resumed: offshoot runs resume ${rootOf(id)}`
      : "it reads it before its next turn";
  await io.stderr.write(`left for ${id}: ${when}\n`);
}

/** `-` means standard input, which has no other use here. */
async function readMessage(words: readonly string[], io: Io): Promise<string> {
  const isStdin = words.length === 1 && words[0] === "-";
  const text = isStdin ? await readPiped(io) : words.join(" ");
  if (text.trim() !== "") return text.replace(/\n+$/, "");
  const what = isStdin ? "Standard input is empty" : "The message is missing";
  const example = 'offshoot runs steer last "Leave the tests out"';
  throw new Failure("invalid_request", `${what}. Write it after the id: ${example}`);
}

function toOver({ id, ending }: RunRecord): Failure {
  const message = `Run ${id} has ended already (${ending}) and reads no messages. Start another one with offshoot run.`;
  return new Failure("conflict", message);
}

function rootOf(id: string): string {
  return id.split("/")[0] ?? id;
}
