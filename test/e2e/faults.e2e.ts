/**
 * Every fault of the kit, through the command: the whole answer and exit code 0, or one line that says what
 * went wrong and another exit code, within its limit. A shortened answer never looks complete.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FAULTS, reply, script, type Upstream } from "../../src/testing/index.ts";
import { PATIENCE_MS } from "../patience.ts";
import { createPlace, type Ended, type Place } from "./command.ts";
import { CHAT, RESPONSES, runAt, type WireCase } from "./wires.ts";

const LONG = "The quick brown fox jumps over the lazy dog, naïve as ever. ".repeat(6).trimEnd();
const readBoth = reply.calls([
  { name: "read", arguments: { path: "one.txt" } },
  { name: "read", arguments: { path: "two.txt" } },
]);

const LIMITS = {
  OFFSHOOT_CONNECT_TIMEOUT_MS: String(PATIENCE_MS),
  OFFSHOOT_FIRST_BYTE_TIMEOUT_MS: String(PATIENCE_MS),
  OFFSHOOT_IDLE_TIMEOUT_MS: String(PATIENCE_MS),
  OFFSHOOT_MAX_RETRIES: "1",
};
/** How long silent servers are waited for, by the fault's name. */
const SHORT_LIMITS: Readonly<Record<string, object>> = {
  silence: { OFFSHOOT_IDLE_TIMEOUT_MS: "300" },
  "no answer": { OFFSHOOT_FIRST_BYTE_TIMEOUT_MS: "300" },
};

/** The text of the one line, by the fault's name. */
const SAYS: Readonly<Record<string, RegExp>> = {
  cut: /was lost before the answer's end/,
  "early end": /The stream ended before the answer did/,
  "half a character": /was lost before the answer's end/,
  silence: /fell silent in the middle of its answer/,
  "no answer": /did not begin to answer within its limit/,
  "429": /custom answered 429: Rate limit reached/,
  "500": /custom answered 500: The server had an error/,
  "529": /custom answered 529: The server had an error/,
  "wrong content type": /a web page instead of a stream. Check the URL/,
  // The form of the other wire is unknown there, so only the missing end shows the fault.
  "flat error": /stopped in the middle of its answer|The stream ended before the answer did/,
  "nested error": /failed in the middle of its answer: The model stopped/,
  "chat error": /failed in the middle of its answer: The model stopped/,
  reset: /was lost before the answer's end/,
  "reset before headers": /was lost before the answer's end/,
  "empty body": /The stream ended before the answer did/,
  "no terminal event": /The stream ended before the answer did/,
};

async function ask(place: Place, upstream: Upstream, wire: WireCase, name: string): Promise<Ended> {
  const env = { ...LIMITS, ...SHORT_LIMITS[name] };
  return await place.run(runAt(upstream, wire, "Hi"), { env });
}

function checkWhole(ended: Ended): void {
  assert.equal(ended.code, 0, ended.stderr);
  assert.equal(ended.stdout, `${LONG}\n`);
}

function checkError(ended: Ended, name: string): void {
  assert.equal(ended.code, 1, ended.stderr);
  assert.ok(LONG.startsWith(ended.stdout.trimEnd()), ended.stdout);
  const lines = ended.stderr.split("\n").filter((line) => line.startsWith("offshoot: "));
  assert.equal(lines.length, 1, ended.stderr);
  assert.match(lines[0] ?? "", SAYS[name] ?? assert.fail(`nothing is said of ${name}`));
}

for (const wire of [CHAT, RESPONSES]) {
  describe(`faults over ${wire.name}`, { concurrency: 4 }, () => {
    for (const { name, expect, create } of FAULTS) {
      it(`${name}: ${expect}`, async () => {
        await using place = await createPlace({ "one.txt": "first", "two.txt": "second" });
        const answers = name === "duplicate ids" ? [readBoth] : [];
        const engine = script(...answers, ...Array.from({ length: 4 }, () => reply.text(LONG)));
        await using upstream = await wire.start({ engine, faults: create() });
        const ended = await ask(place, upstream, wire, name);
        if (expect === "same answer") checkWhole(ended);
        else checkError(ended, name);
        // Told apart by their indexes, both calls got their own result.
        if (name === "duplicate ids") {
          assert.match(upstream.requests[1]?.text ?? "", /1 \| first.*1 \| second/);
        }
      });
    }
  });
}
