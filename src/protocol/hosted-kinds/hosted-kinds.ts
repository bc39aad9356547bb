/** The kinds of hosted tools: one line for each. The schemas of tools, items and events are made from this list. */

import { APPLY_PATCH } from "./apply-patch.ts";
import { CODE_INTERPRETER } from "./code-interpreter.ts";
import { COMPUTER } from "./computer.ts";
import { FILE_SEARCH } from "./file-search.ts";
import { IMAGE_GENERATION } from "./image-generation.ts";
import { LOCAL_SHELL } from "./local-shell.ts";
import { MCP } from "./mcp.ts";
import { PROGRAM } from "./program.ts";
import { SHELL } from "./shell.ts";
import { TOOL_SEARCH } from "./tool-search.ts";
import { WEB_FETCH, WEB_SEARCH } from "./web-search.ts";

export const HOSTED_KINDS = [
  FILE_SEARCH,
  WEB_SEARCH,
  WEB_FETCH,
  COMPUTER,
  CODE_INTERPRETER,
  IMAGE_GENERATION,
  MCP,
  LOCAL_SHELL,
  SHELL,
  APPLY_PATCH,
  TOOL_SEARCH,
  PROGRAM,
] as const;

export type AnyHostedKind = (typeof HOSTED_KINDS)[number];
