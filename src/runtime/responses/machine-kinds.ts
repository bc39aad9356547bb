/**
 * The kinds of tools that work on a machine: the server's own, in containers that hold a tenant's files,
 * or the client's, which gets the calls.
 */

import type { ToolKind } from "../../responses/bridge/tool-kind.ts";
import type { InterpreterSettings } from "../../responses/containers/interpreter-tool.ts";
import { openInterpreter } from "../../responses/containers/open-interpreter.ts";
import { createOpenShell } from "../../responses/containers/open-shell.ts";
import type { ShellParts } from "../../responses/containers/shell-tool.ts";
import type { ImagesApi } from "../../responses/images/image-tool.ts";
import { openImages } from "../../responses/images/open-images.ts";
import { createApplyPatchKind } from "../../responses/kinds/apply-patch.ts";
import type { FindBacking } from "../../responses/kinds/backed-kind.ts";
import { createCodeInterpreterKind } from "../../responses/kinds/code-interpreter.ts";
import { COMPUTER_KIND } from "../../responses/kinds/computer.ts";
import { createImageKind } from "../../responses/kinds/image-generation.ts";
import { LOCAL_SHELL_KIND } from "../../responses/kinds/local-shell.ts";
import { NAMESPACE_KIND } from "../../responses/kinds/namespace.ts";
import { PROGRAM_KIND } from "../../responses/kinds/program.ts";
import { createShellKind } from "../../responses/kinds/shell.ts";
import { TOOL_SEARCH_KIND } from "../../responses/kinds/tool-search.ts";
import type { ShelfParts } from "../../responses/shelf-parts.ts";
import { applyPatchTool } from "../../tools/patch/apply-patch.ts";

/** What this server does itself. What is left out it leaves to clients, or leaves out and reports. */
export interface MachineParts {
  /** Where containers and their files are kept. */
  readonly kept?: ShelfParts | undefined;
  readonly interpreter?: InterpreterSettings | undefined;
  /** How commands of hosted shells are held. */
  readonly shell?: Pick<ShellParts, "level" | "env"> | undefined;
  /** Who draws pictures. */
  readonly images?: ImagesApi | undefined;
  /** Who draws, where it is no images API: a tool that the settings name. */
  readonly findBacking?: FindBacking | undefined;
  /** Whose files `apply_patch` changes; the client's, where it is left out. */
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
