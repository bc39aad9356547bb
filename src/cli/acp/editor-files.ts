/**
 * Reads and writes files through the editor's buffers, as far as the editor has announced that it can.
 */

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

/** Undefined if the editor can do neither: files are then read and written on disk. */
export function createEditorFiles(parts: EditorFilesParts): FileBuffers | undefined {
  const { sessionId, client, capabilities } = parts;
  const { readTextFile = false, writeTextFile = false } = capabilities.fs ?? {};
  if (!readTextFile && !writeTextFile) return undefined;
  return {
    async read(path) {
      if (!readTextFile) return undefined;
      // A file that the editor does not open is read from disk, as by any other program.
      const asked = client.request(methods.client.fs.readTextFile, { sessionId, path });
      return await asked.then(
        ({ content }) => content,
        () => undefined,
      );
    },
    async write(path, content) {
      if (!writeTextFile) return false;
      // If the editor refuses, the write is refused: the person may have locked the file.
      await client.request(methods.client.fs.writeTextFile, { sessionId, path, content });
      return true;
    },
  };
}

/**
 * Reads a file for a diff: from the editor, or from disk. Files outside of the folder are not shown.
 */
export function createReadFile(cwd: string, buffers: FileBuffers | undefined): ReadFile {
  return async (path) => {
    const disk = await readBefore(cwd, path);
    if (disk === undefined || !buffers) return disk;
    return (await buffers.read(resolve(cwd, path))) ?? disk;
  };
}
