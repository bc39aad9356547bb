/**
 * The allowances of a person for a whole tree of runs, in one process of the tree: received from the parent, and
 * reported to it.
 */

import { type Always, createAlways } from "../../tools/gate/always.ts";
import { PERSON_ASK, parseAllowed } from "../person-line.ts";
import type { ParentLine } from "./parent-line.ts";

export function openParentAlways({ onLine, send }: ParentLine): Always {
  const always = createAlways();
  let isHeard = false;
  onLine((line) => {
    const allowed = parseAllowed(line);
    if (!allowed) return;
    isHeard = true;
    always.allow(allowed);
    isHeard = false;
  });
  always.onAdd((allowed) => {
    if (isHeard) return;
    const { rules, call } = allowed;
    const told = { rules, call: call && { ...call } };
    // A parent that does not read any more has ended this run.
    send({ type: PERSON_ASK, allowed: told }).catch(() => {});
  });
  return always;
}
