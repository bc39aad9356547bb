/**
 * Makes one call of a code interpreter: runs the code in the container's session and returns logs, images and files.
 */

import { asJson } from "../../base/json.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { RunReply } from "../../tools/python/messages.ts";
import { toResult } from "../../tools/python/to-result.ts";
import { type ToolContext, ToolOutput } from "../../tools/tool.ts";
import type { ChosenContainer } from "./auto-container.ts";
import {
  type CodeCall,
  type InterpreterParts,
  openInterpreterSession,
  type SavedFile,
} from "./interpreter-session.ts";

/** The part of the result that is for the client, besides the text for the model. */
export interface CodeDetails {
  readonly outputs: readonly CodeOutput[];
  readonly files: readonly { readonly file_id: string; readonly path: string }[];
}

export type CodeOutput =
  | { readonly type: "logs"; readonly logs: string }
  | { readonly type: "image"; readonly url: string };

export async function runCode(
  parts: InterpreterParts,
  container: ChosenContainer,
  call: CodeCall,
  context: ToolContext,
): Promise<ToolOutput> {
  await container.use();
  const session = await context.scope.keep(`interpreter:${container.containerId}`, () =>
    openInterpreterSession(parts, container, context),
  );
  const { reply, saved, notes } = await session.run(call, context.signal);
  const images = toResult(reply).parts;
  const logs = toLogs(reply, saved, notes);
  const details: CodeDetails = {
    outputs: [...(logs === "" ? [] : [{ type: "logs" as const, logs }]), ...toImages(images)],
    files: saved.map(({ id, path }) => ({ file_id: id, path })),
  };
  return new ToolOutput(logs, images, { details: asJson(details) });
}

/** As on a terminal: first the printed text, then the result. */
function toLogs(
  { stdout, stderr, result }: RunReply,
  saved: readonly SavedFile[],
  notes: readonly string[],
): string {
  const files = saved.map(({ path, bytes }) => `${path} (${bytes} bytes)`).join(", ");
  const written = files === "" ? [] : [`[Files written: ${files}]`];
  return [stdout, stderr, result ?? "", ...written, ...notes.map((note) => `[${note}]`)]
    .filter((text) => text !== "")
    .map((text) => text.replace(/\n$/, ""))
    .join("\n");
}

function toImages(parts: readonly ContentPart[]): CodeOutput[] {
  return parts.flatMap((part) => {
    const url = part.type === "input_image" ? part.image_url : undefined;
    return typeof url === "string" ? [{ type: "image" as const, url }] : [];
  });
}
