/** Files through the editor's buffers, as far as the editor has announced that it gives and takes them. */

import { resolve } from "node:path";
import { type AgentContext, type ClientCapabilities, methods } from "@agentclientprotocol/sdk";
import type { FileBuffers } from "../../tools/workspace/buffered-workspace.ts";
import { readBefore } from "../chat/read-change.ts";
import type { ReadFile } from "./tool-views.ts";

interface EditorFilesParts {
  readonly sessionId: string;
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
}

/** Undefined where the editor does neither: files are on disk then. */
export function createEditorFiles(parts: EditorFilesParts): FileBuffers | undefined {
  const { sessionId, client, capabilities } = parts;
  const { readTextFile = false, writeTextFile = false } = capabilities.fs ?? {};
  if (!readTextFile && !writeTextFile) return undefined;
  return {
    async read(path) {
      if (!readTextFile) return undefined;
      // A file that the editor will not open is read from disk, as any other program would.
      const asked = client.request(methods.client.fs.readTextFile, { sessionId, path });
      return await asked.then(
        ({ content }) => content,
        () => undefined,
      );
    },
    async write(path, content) {
      if (!writeTextFile) return false;
      // What the editor refuses is refused: the person may have locked the file.
      await client.request(methods.client.fs.writeTextFile, { sessionId, path, content });
      return true;
    },
  };
}

/** A file for a difference: from the editor, or from disk. Nothing outside of the folder is shown. */
export function createReadFile(cwd: string, buffers: FileBuffers | undefined): ReadFile {
  return async (path) => {
    const disk = await readBefore(cwd, path);
    if (disk === undefined || !buffers) return disk;
    return (await buffers.read(resolve(cwd, path))) ?? disk;
  };
}
