/** The actions of a live tree's keys on the runs below its root. */

import { steerRun } from "../agent/inbox.ts";
import type { Engine } from "../engine/engine.ts";
import type { TreeControls } from "./output/tree-keys.ts";

export function createTreeControls(engine: Pick<Engine, "cancel" | "signal">): TreeControls {
  return {
    onStop: (id) => engine.cancel(id, { tree: true }),
    onMessage: (id, text) => steerRun(engine, id, text),
  };
}
