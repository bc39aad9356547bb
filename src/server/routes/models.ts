/** The models that clients may name: the server's own names, and what is known of vendors whose key is set. */

import { matchesGlob } from "../../base/glob.ts";
import { keyVariableIn } from "../../providers/models/choose-model.ts";
import { EMBEDDED, EMBEDDED_MODEL } from "../../providers/models/model-ref.ts";
import { MODELS } from "../../providers/models/model-table.ts";
import { isVendor, vendorOf } from "../../providers/vendors/catalog.ts";
import type { Caller } from "../../responses/caller.ts";
import { type ModelRoutes, toUnknownModel } from "../../runtime/responses/model-routes.ts";
import { type Route, toJson } from "../route.ts";

interface ModelParts {
  readonly routes: ModelRoutes;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** As the API has it. */
interface ShownModel {
  readonly id: string;
  readonly object: "model";
  readonly created: number;
  readonly owned_by: string;
}

export function createModelRoutes(parts: ModelParts): Route[] {
  const all = listModels(parts);
  const find = (id: string, caller: Caller): ShownModel => {
    const model = all.find((one) => one.id === id && isAllowed(id, caller));
    if (model) return model;
    throw toUnknownModel(id);
  };
  return [
    {
      method: "GET",
      path: "/v1/models",
      summary: "The models that may be asked",
      scope: "models",
      handle: async ({ caller }) =>
        toJson({ object: "list", data: all.filter(({ id }) => isAllowed(id, caller)) }),
    },
    {
      method: "GET",
      path: "/v1/models/:id",
      summary: "One model",
      scope: "models",
      handle: async ({ params, caller }) => toJson(find(params["id"] ?? "", caller)),
    },
    {
      method: "GET",
      path: "/v1/models/:vendor/:id",
      summary: "One model, where its slash was not escaped",
      scope: "models",
      handle: async ({ params, caller }) =>
        toJson(find(`${params["vendor"]}/${params["id"]}`, caller)),
    },
  ];
}

function isAllowed(id: string, { models }: Caller): boolean {
  return !models || models.some((pattern) => matchesGlob(id, pattern));
}

function listModels({ routes: { named, usual }, env }: ModelParts): ShownModel[] {
  // A name with a star in it is a rule and not a model.
  const own = named
    .filter(([name]) => !name.includes("*"))
    .map(([name]) => toShown(name, "offshoot"));
  const refs = [
    ...(usual ? [usual.model] : []),
    ...MODELS.filter(({ vendor, name }) => !name.endsWith("*") && isReachable(vendor, env)).map(
      ({ vendor, name }) => `${vendor}/${name}`,
    ),
    `${EMBEDDED}/${EMBEDDED_MODEL}`,
  ];
  const shown = refs.map((ref) => toShown(ref, ref.slice(0, Math.max(0, ref.indexOf("/")))));
  const byId = new Map([...own, ...shown].map((model) => [model.id, model]));
  return [...byId.values()];
}

function isReachable(vendor: string, env: ModelParts["env"]): boolean {
  return isVendor(vendor) && !vendorOf(vendor).local && keyVariableIn(vendor, env) !== undefined;
}

/** Nobody knows when; the API wants a number. */
function toShown(id: string, owned_by: string): ShownModel {
  return { id, object: "model", created: 0, owned_by };
}
