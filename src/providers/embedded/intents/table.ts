/**
 * Every intent, in the order in which they are tried: the first match is used. To add one, add it to its
 * group's file; a new group is a file and a line here.
 */

import { ARRANGING } from "./arranging.ts";
import { BROWSING } from "./browsing.ts";
import { CALLING } from "./calling.ts";
import { COMPUTING } from "./computing.ts";
import { DELEGATING } from "./delegating.ts";
import type { Intent } from "./intent.ts";
import { LISTING } from "./listing.ts";
import { MEASURING } from "./measuring.ts";
import { PROJECT } from "./project.ts";
import { READING } from "./reading.ts";
import { REMEMBERING } from "./remembering.ts";
import { RUNNING } from "./running.ts";
import { SEARCHING } from "./searching.ts";
import { SUMMARISING } from "./summarising.ts";
import { defineHelp, TALKING } from "./talking.ts";
import { WRITING } from "./writing.ts";

export const INTENTS: readonly Intent[] = [
  ...COMPUTING,
  ...MEASURING,
  ...LISTING,
  ...SUMMARISING,
  ...READING,
  ...SEARCHING,
  ...CALLING,
  ...WRITING,
  ...ARRANGING,
  ...PROJECT,
  ...RUNNING,
  ...BROWSING,
  ...DELEGATING,
  ...REMEMBERING,
  ...TALKING,
  defineHelp(() => INTENTS),
];
