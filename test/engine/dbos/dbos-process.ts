/**
 * A program with the engine on DBOS, which a test asks for work over its channel; it reports what its runs do:
 *     node dbos-process.js ADDRESS
 */

import { toFailure } from "../../../src/base/failure.ts";
import { openEngine } from "../../../src/engine/open-engine.ts";
import { openKept } from "../../../src/store/open-kept.ts";
import { completed, createGate, notice } from "../engine-fixture.ts";

/** `go` lets the second step of its run end. */
export type Order = "submit" | "start" | "go" | "end";

const [address = ""] = process.argv.slice(2);
const engine = await openEngine(await openKept(address), { dbos: { address } });
const gate = createGate();
engine.define("agent", async (context) => {
  await context.step("one", async () => {
    tell(`one in ${context.epoch}`);
    await context.emit([notice(`one in ${context.epoch}`)]);
    return null;
  });
  try {
    await context.step("two", async () => {
      tell(`two in ${context.epoch}`);
      await gate.opened;
      await context.emit([notice(`two in ${context.epoch}`)]);
      return null;
    });
  } catch (thrown) {
    tell(toFailure(thrown).code);
    throw thrown;
  }
  return completed(context.epoch);
});
process.on("message", (order: Order) => void obey(order));
tell("ready");

async function obey(order: Order): Promise<void> {
  switch (order) {
    case "submit":
      return await engine.submit("agent", null, { id: "run_1", title: "" });
    case "start":
      await engine.start();
      return tell("started");
    case "go":
      return gate.open();
    case "end":
      await engine.stop();
      return process.disconnect();
  }
}

function tell(text: string): void {
  process.send?.(text);
}
