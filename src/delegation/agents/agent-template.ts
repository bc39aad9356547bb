/**
 * The file that `offshoot agents new` writes: an agent that works once it has a description, with every field
 * explained.
 */

import { BUDGET, UNEDITED_DESCRIPTION } from "./definition.ts";

export function toAgentTemplate(name: string): string {
  const budget = Object.entries(BUDGET).map(
    ([kind, { summary }]) =>
      `#   ${kind}: ${EXAMPLES[kind as keyof typeof BUDGET]}  # most ${summary}`,
  );
  return `---
# The name is the file's. The model that delegates sees the name and the description.
name: ${name}
# Write it first: the agent cannot be called without it.
description: ${UNEDITED_DESCRIPTION}

# vendor/model; left out, it is the parent's.
# model: openai/gpt-5.1
# Beside it, where that is not the vendor's own: the server, the API it speaks, the variable with its key.
# url: http://127.0.0.1:8000/v1
# provider: openai-chat
# api_key_name: MY_SERVER_KEY

# Fields of the vendor's own for its model calls, as the vendor's API spells them.
# options: { seed: 7, top_k: 40 }

# Names or patterns of tools its parent has; left out, all of them; [] for none.
tools: [read, bash_find, bash_ripgrep]

# What it may spend, with everything below it.
# budget:
${budget.join("\n")}

# A JSON schema, here or in a file beside this one: it answers with a document that fits.
# output_schema: ${name}.schema.json
# Or any JSON object:
# output_mode: json_object

# Offer it to other programs, too: as a tool of \`offshoot mcp serve\` and of a server's \`/mcp\` (mcp),
# and as the model \`agent/${name}\` of a server (model).
# expose: [mcp, model]
# A document that these programs may send beside the task:
# input_schema: { type: object, properties: { file: { type: string } } }
---
You are ${name}. Do the task you are given with your tools, and nothing beside it.

Say what you found with the file and the line, and say what you could not find out.
`;
}

const EXAMPLES: Readonly<Record<keyof typeof BUDGET, number>> = {
  turns: 10,
  tokens: 200_000,
  usd: 0.5,
  seconds: 600,
  tool_calls: 40,
  children: 0,
};
