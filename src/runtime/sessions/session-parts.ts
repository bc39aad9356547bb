/** The parts that the functions over sessions need. */

import type { Clock } from "../../base/clock.ts";
import type { Json } from "../../base/json.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import { DEFAULT_TENANT } from "../../protocol/tenant.ts";
import type { Shelf } from "../../store/shelf.ts";

export interface SessionParts {
  readonly shelf: Shelf;
  readonly clock: Clock;
  /** Where its runs run. */
  readonly place: Engine;
}

/** The items and the prompt that a run of a session begins with. */
export interface SessionBefore {
  readonly before: readonly Item[];
  /** For the journal, so that a takeover can check that it is the same. */
  readonly opening: Json;
}

/** The command line and programs have no key: they see what a server without keys shows. */
export const TENANT = DEFAULT_TENANT;
