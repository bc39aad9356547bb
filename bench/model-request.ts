/** The request of the benches: the smallest that is valid. */

import { type ModelRequest, TEXT_FORMAT } from "../src/providers/provider.ts";

export const MODEL_REQUEST: ModelRequest = {
  model: "gpt-5.1",
  instructions: undefined,
  items: [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hello" }] }],
  tools: [],
  tool_choice: "auto",
  parallel_tool_calls: undefined,
  temperature: undefined,
  top_p: undefined,
  max_output_tokens: undefined,
  reasoning: { effort: undefined, summary: undefined },
  format: TEXT_FORMAT,
  previous: undefined,
};
