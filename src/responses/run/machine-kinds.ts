/**
 * The kinds of tools that work on a machine: the server's own, in containers with a tenant's files, or the client's,
 * which then gets the calls.
 */

import { applyPatchTool } from "../../tools/patch/apply-patch.ts";
import type { InterpreterSettings } from "../containers/interpreter-session.ts";
import { openInterpreter } from "../containers/open-interpreter.ts";
import { createOpenShell } from "../containers/open-shell.ts";
import type { ShellParts } from "../containers/run-shell.ts";
import type { ImagesApi } from "../images/image-tool.ts";
import { openImages } from "../images/open-images.ts";
import { createApplyPatchKind } from "../kinds/apply-patch.ts";
import type { FindBacking } from "../kinds/backed-kind.ts";
import { createCodeInterpreterKind } from "../kinds/code-interpreter.ts";
import { COMPUTER_KIND } from "../kinds/computer.ts";
import { createImageKind } from "../kinds/image-generation.ts";
import { LOCAL_SHELL_KIND } from "../kinds/local-shell.ts";
import { NAMESPACE_KIND } from "../kinds/namespace.ts";
import { PROGRAM_KIND } from "../kinds/program.ts";
import { createShellKind } from "../kinds/shell.ts";
import type { ToolKind } from "../kinds/tool-kind.ts";
import { TOOL_SEARCH_KIND } from "../kinds/tool-search.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";

/**
 * The tools that this server runs itself. A missing one is left to the client, or left out and reported.
 */
export interface MachineParts {
  /** The store of containers and their files. */
  readonly kept?: ShelfParts | undefined;
  readonly interpreter?: InterpreterSettings | undefined;
  /** How commands of hosted shells are isolated. */
  readonly shell?: Pick<ShellParts, "level" | "env"> | undefined;
  /** The API that draws pictures. */
  readonly images?: ImagesApi | undefined;
  /** A tool of the settings that draws, if there is no images API. */
  readonly findBacking?: FindBacking | undefined;
  /** Whose files `apply_patch` changes; the client's when left out. */
  readonly patches?: "client" | "server" | undefined;
}

export function createMachineKinds(parts: MachineParts): ToolKind[] {
  const { kept, interpreter, shell, images, patches, findBacking } = parts;
  return [
    createCodeInterpreterKind({
      open:
        kept && interpreter
          ? (tool, request) => openInterpreter({ ...kept, settings: interpreter }, tool, request)
          : undefined,
    }),
    createShellKind({ open: kept && shell ? createOpenShell({ ...kept, ...shell }) : undefined }),
    createImageKind({
      open:
        kept && images
          ? (tool, request) => openImages({ ...kept, api: images }, tool, request)
          : undefined,
      find: findBacking && (() => findBacking("image_generation")),
    }),
    createApplyPatchKind({ tool: patches === "server" ? applyPatchTool : undefined }),
    LOCAL_SHELL_KIND,
    COMPUTER_KIND,
    NAMESPACE_KIND,
    TOOL_SEARCH_KIND,
    PROGRAM_KIND,
  ];
}
