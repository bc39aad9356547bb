/** Events as the rows of a log have them, a batch each. */

import { storedList } from "../base/stored.ts";
import type { RunEvent } from "../protocol/run-events.ts";

export const STORED_EVENTS = storedList<RunEvent>("a list of events", ["type"]);
