/**
 * The kinds of tools that work on a machine: the server's own, in containers that hold a tenant's files,
 * or the client's, which gets the calls.
 */

import { applyPatchTool } from "../../tools/patch/apply-patch.ts";
import type { InterpreterSettings } from "../containers/interpreter-tool.ts";
import { openInterpreter } from "../containers/open-interpreter.ts";
import { createOpenShell } from "../containers/open-shell.ts";
import type { ShellParts } from "../containers/shell-tool.ts";
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
