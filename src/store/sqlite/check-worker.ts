/**
 * A process that looks through the file whose path it reads from standard input, and prints what it found.
 * The process that started it works with the file meanwhile, and may end this one at any moment.
 */

import { constants, setPriority } from "node:os";
import { text } from "node:stream/consumers";
import { toFailure } from "../../base/failure.ts";
import type { CheckReply } from "./check-beside.ts";
import { findQuickly } from "./maintenance.ts";
import { openConnection } from "./sqlite-driver.ts";

/** Another process may be recovering the WAL after a crash. */
const WAIT_MS = 10_000;

async function check(path: string): Promise<CheckReply> {
  try {
    const connection = await openConnection(path, { readOnly: true });
    connection.exec(`pragma busy_timeout = ${WAIT_MS}`);
    return { problem: findQuickly((sql) => connection.prepare(sql).get()) };
  } catch (thrown) {
    return { error: toFailure(thrown).message };
  }
}

/** Requests come first. If the system does not allow it, it is not asked again. */
function stepBack(): void {
  try {
    setPriority(constants.priority.PRIORITY_LOW);
  } catch {
    // Then the check takes its share of the processor like any other process.
  }
}

stepBack();
void text(process.stdin)
  .then(check)
  .then((reply) => process.stdout.write(JSON.stringify(reply)));
