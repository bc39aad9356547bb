/** Every built-in tool, one line each. */

import { bashFindTool } from "./builtin/bash-find.ts";
import { readTool } from "./builtin/read.ts";
import type { Tool } from "./tool.ts";

export const BUILTINS: readonly Tool[] = [readTool, bashFindTool];
