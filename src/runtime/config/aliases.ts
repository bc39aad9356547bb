/** The setting `aliases`: short names of models, for wherever `-m` or `model` names one. */

import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import { EMBEDDED, GGUF } from "../../providers/models/model-ref.ts";
import { CATALOG, type Catalog } from "../../providers/vendors/catalog.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Returns the map when every alias in it is valid. */
export function checkAliases(
  aliases: JsonObject,
  where: string,
  catalog: Catalog = CATALOG,
): JsonObject {
  for (const [name, model] of Object.entries(aliases)) {
    const problem = findProblem(name, model, catalog);
    if (problem === undefined) continue;
    const message = `${where}: \`${clip(name, 64)}\` ${problem}.`;
    throw new Failure("invalid_request", message, { param: "aliases" });
  }
  return aliases;
}

/** A vendor's name would hide its models; an alias of an alias could be circular. */
function findProblem(name: string, model: unknown, catalog: Catalog): string | undefined {
  if (!NAME.test(name)) return "is not a name: use letters, digits, `.`, `_` and `-`";
  if (catalog.has(name) || name === EMBEDDED || name === GGUF) {
    return "is a vendor's name. Take another one";
  }
  const isModel = typeof model === "string" && /^(gguf:\S|[^/\s]+\/\S)/.test(model);
  return isModel || model === EMBEDDED ? undefined : "must name a model as vendor/model";
}

/** The model that a name stands for; the name itself if it is not an alias. */
export function resolveAlias(model: string, aliases: JsonObject | undefined): string {
  const meant = aliases && Object.hasOwn(aliases, model) ? aliases[model] : undefined;
  return typeof meant === "string" ? meant : model;
}
