/** The undo of a runtime. Its code is loaded by the first undo that is asked for, or resumed after a crash. */

import type { Clock } from "../../base/clock.ts";
import type { Environment } from "../../base/environment.ts";
import { findSecrets, redactExactly } from "../../base/redact.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Sessions } from "../sessions/session.ts";
import type { Undo } from "./undo.ts";
import { UNDO_BODY } from "./undo-job.ts";

interface Parts {
  readonly engine: Engine;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly env: Environment;
}

/** Called once, before the engine begins runs. */
export function openUndo({ engine, sessions, clock, env }: Parts): Undo {
  engine.define(UNDO_BODY, async (context, input) => {
    const { createUndoBody } = await import("./undo-body.ts");
    const redact = redactExactly(findSecrets(env));
    return await createUndoBody({ clock, redact })(context, input);
  });
  return async (wish, options) => {
    const { createUndo } = await import("./undo.ts");
    return await createUndo({ engine, sessions })(wish, options);
  };
}
