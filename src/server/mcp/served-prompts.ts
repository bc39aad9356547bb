/** The prompts of a server (`server.prompts_dir`), for MCP clients that fill them in themselves. */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { fillPrompt, gapsOf, type StoredPrompt } from "../../responses/prompts/prompt.ts";
import { createFindPrompt, listPrompts } from "../../responses/prompts/prompt-files.ts";
import type { DeskPrompts, PromptNote } from "./desk.ts";

/** The most prompts in a list; a folder with more of them holds something else. */
const MAX_LISTED = 200;

export function createServedPrompts(folder: string | undefined): DeskPrompts {
  const find = createFindPrompt(folder);
  return {
    async list() {
      const names = (await listPrompts(folder)).slice(0, MAX_LISTED);
      const found = await Promise.all(
        names.map(async (name) => toNote(name, await find(name, undefined))),
      );
      return found.filter((note) => note !== undefined);
    },
    async fill(name, given) {
      const prompt = await find(name, undefined);
      if (prompt) return fillPrompt(prompt, given);
      throw new Failure("invalid_request", `There is no prompt \`${clip(name, 80)}\`.`);
    },
  };
}

function toNote(name: string, prompt: StoredPrompt | undefined): PromptNote | undefined {
  if (!prompt) return undefined;
  const { description } = prompt.fields;
  const taken = gapsOf(prompt).map((gap) => ({ name: gap, required: true }));
  return {
    name,
    description: typeof description === "string" ? description : "",
    arguments: taken,
  };
}
