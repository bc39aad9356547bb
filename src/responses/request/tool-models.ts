/**
 * Checks models that a vendor's own tool asks besides the request's (Claude's `advisor`, tools of routers). A key
 * with a list of models may ask no others, in any way. Pure.
 */

import { Failure } from "../../base/failure.ts";
import { matchesGlob } from "../../base/glob.ts";
import { asJsonObject, isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { Caller } from "../tenant/caller.ts";
import { isForVendor, kindOf } from "./hosted-kinds.ts";

/** Rejects with `forbidden`, naming the tool. `model` is the request's, with its vendor. */
export function checkToolModels(
  tools: readonly Tool[],
  { model }: { readonly model: string },
  { models }: Pick<Caller, "models">,
): void {
  if (!models) return;
  const vendor = model.slice(0, model.indexOf("/") + 1);
  const mayAsk = (name: string): boolean =>
    models.some((glob) => matchesGlob(name, glob) || matchesGlob(vendor + name, glob));
  for (const [at, tool] of tools.entries()) {
    const other = findModels(tool).find((name) => !mayAsk(name));
    if (other === undefined) continue;
    const message = `This key may not ask the model \`${clip(other, 60)}\`, which \`${clip(tool.type, 60)}\` names.`;
    throw new Failure("forbidden", message, { param: `tools[${at}]` });
  }
}

/** Models that draw pictures do not answer, and are not in lists of models. */
function findModels(tool: Tool): readonly string[] {
  if (!isForVendor(tool) || kindOf(tool) === "image_generation") return [];
  const fields = asJsonObject(tool);
  const { parameters } = fields;
  return [...namedIn(fields), ...(isJsonObject(parameters) ? namedIn(parameters) : [])];
}

function namedIn(fields: JsonObject): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    /(^|_)models?$/.test(name) ? textsOf(value) : [],
  );
}

function textsOf(value: Json | undefined): readonly string[] {
  return [value].flat().filter((one) => typeof one === "string");
}
