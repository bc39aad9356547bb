/** `code_interpreter`: Python in a container. */

import { z } from "zod";
import { event, place } from "../event-fields.ts";
import { itemFields } from "../item-fields.ts";
import { open, openEnum, textOr } from "../open.ts";
import { allowedCallers, container } from "../tool-fields.ts";
import { type HostedKind, toProgress, toWriting } from "./hosted-kind.ts";

export const CodeInterpreterTool = open({
  type: z.literal("code_interpreter"),
  /** The id of a container, or how to make one. */
  container: textOr(open({ type: openEnum(["auto"]), ...container })).optional(),
  allowed_callers: allowedCallers,
});
export type CodeInterpreterTool = z.infer<typeof CodeInterpreterTool>;

export const CodeInterpreterCall = open({
  type: z.literal("code_interpreter_call"),
  ...itemFields,
  code: z.string().nullable().optional(),
  container_id: z.string().optional(),
  outputs: z
    .array(
      open({
        type: openEnum(["logs", "image", "file"]),
        logs: z.string().optional(),
        url: z.string().optional(),
        image_url: z.string().optional(),
        file_id: z.string().optional(),
      }),
    )
    .nullable()
    .optional(),
  status: openEnum(["in_progress", "interpreting", "completed", "incomplete", "failed"]).optional(),
});
export type CodeInterpreterCall = z.infer<typeof CodeInterpreterCall>;

export const CodeInterpreterCodeDone = event(["response.code_interpreter_call_code.done"], {
  ...place,
  code: z.string(),
});
export type CodeInterpreterCodeDone = z.infer<typeof CodeInterpreterCodeDone>;

export const CODE_INTERPRETER = {
  name: "code_interpreter",
  tools: [CodeInterpreterTool],
  spellings: /^(code_execution(_\d{8})?|codeExecution|nova_code_interpreter)$/,
  runs: "server",
  choices: ["code_interpreter"],
  items: {
    code_interpreter_call: {
      idPrefix: "ci",
      cut: "incomplete",
      always: { status: "completed", code: null, container_id: "", outputs: null },
      answeredBy: undefined,
      // Another document of the published API shows the outputs always: no client fails because of them.
      optional: { outputs: "shown" },
      progress: toProgress("code_interpreter_call", "interpreting"),
      writes: toWriting("code_interpreter_call_code", "code"),
      show: showCode,
    },
  },
  itemSchemas: [CodeInterpreterCall],
  events: [CodeInterpreterCodeDone],
} as const satisfies HostedKind;

/**
 * The result of the code, and the files that it has written. A `file` among the outputs is a kind that clients of the
 * published API fail at, so files have a field of their own.
 */
function showCode(item: CodeInterpreterCall): CodeInterpreterCall {
  const { files, ...shown } = item as CodeInterpreterCall & { files?: unknown };
  const outputs = shown.outputs?.map(withBothNames) ?? null;
  const written: readonly unknown[] = Array.isArray(files) ? files : [];
  if (written.length === 0) return { ...shown, outputs };
  const entries = written.map((file) => ({ type: "file", ...(file as object) }));
  return { ...shown, outputs, files: entries } as CodeInterpreterCall;
}

type CodeOutput = NonNullable<CodeInterpreterCall["outputs"]>[number];

/** The address of an image is `url` for clients of the published API and `image_url` for others. */
function withBothNames(output: CodeOutput): CodeOutput {
  const address = output.url ?? output.image_url;
  if (output.type !== "image" || address === undefined) return output;
  return { ...output, url: address, image_url: address };
}
