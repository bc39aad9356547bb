/** The prompt templates of the user and of the folder, as prompts of an MCP server. */

import { Failure } from "../../base/failure.ts";
import type { DeskPrompts, PromptNote } from "../../server/mcp/desk.ts";
import type { Io } from "../io.ts";
import { openTemplates, unknown } from "../open-templates.ts";
import { fillTemplate, INPUT, needsInput, type Template } from "../templates/template.ts";

/** Read again for each request, so that a new template is found. */
export function createTemplatePrompts(io: Pick<Io, "env" | "home" | "cwd">): DeskPrompts {
  return {
    async list() {
      return (await openTemplates(io)).templates.map(toNote);
    },
    async fill(name, given) {
      const { templates, found } = await openTemplates(io);
      const template = templates.find((one) => one.name === name);
      if (!template) throw unknown(name, found);
      const { [INPUT]: input = "", ...variables } = given;
      if (needsInput(template) && input === "") {
        throw new Failure("invalid_request", `\`${INPUT}\` is missing.`, { param: INPUT });
      }
      return fillTemplate(template, new Map(Object.entries(variables)), input);
    },
  };
}

function toNote(template: Template): PromptNote {
  const { name, description, variables } = template;
  const named = [...variables].map(([variable, usual]) => ({
    name: variable,
    required: usual === undefined,
  }));
  const input = { name: INPUT, required: needsInput(template) };
  return { name, description, arguments: input.required ? [...named, input] : named };
}
