/**
 * A model's name that stands for several deployments, as one model. It has the abilities that all of them have; the
 * cost of an answer depends on which one gave it.
 */

import { createHash } from "node:crypto";
import type { Deployment } from "../agent/task.ts";
import type { Item } from "../protocol/items.ts";
import type { Usage } from "../protocol/usage.ts";
import {
  createDeploymentsProvider,
  type OpenDeployment,
} from "../providers/deployments/deployments-provider.ts";
import { askInWords } from "../providers/json-in-words.ts";
import type { Provider } from "../providers/provider.ts";
import type { NativeModel } from "../providers/vendors/native-model.ts";
import { type EachOpened, type OpenOne, openEach } from "./open-each.ts";
import type { OpenedModel } from "./open-provider.ts";
import type { ModelParts } from "./open-sign.ts";

/** Rejects if none of them can be opened. A deployment without its key is never asked. */
export async function openDeployments(
  deployments: readonly Deployment[],
  parts: ModelParts,
  openOne: OpenOne<OpenedModel>,
): Promise<OpenedModel> {
  const opened = await openEach(deployments, parts, openOne);
  return join(opened.map(toOpened), parts);
}

/** A deployment with all that is known of its model. */
interface Opened extends OpenDeployment {
  readonly known: OpenedModel;
}

function toOpened({ one, label, health, known }: EachOpened<OpenedModel>): Opened {
  const { model, weight, fallback, url, api_key_name } = one;
  const vendor = model.slice(0, Math.max(0, model.indexOf("/")));
  return {
    known,
    label,
    health,
    model,
    weight,
    isFallback: fallback,
    provider: toWorded(known.provider),
    contextTokens: known.contextTokens,
    sealed: known.reasoning.sealed,
    checkInput: known.checkInput,
    mark: toMark([vendor, url, api_key_name]),
  };
}

/**
 * Each API is asked for JSON in its own way, which the caller cannot choose: it is not known which one will answer.
 */
function toWorded(provider: Provider): Provider {
  const worded = askInWords(provider);
  return worded === provider ? provider : { ...worded, omits: provider.omits };
}

/** Only letters, because a seal's envelope takes no others; eleven of them are 44 bits. */
function toMark(parts: readonly (string | null)[]): string {
  const hex = createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 11);
  return hex.replace(/[0-9a-f]/g, (digit) => "abcdefghijklmnop"[Number.parseInt(digit, 16)] ?? "a");
}

function join(opened: readonly Opened[], parts: ModelParts): OpenedModel {
  const usual = opened.filter(({ isFallback }) => !isFallback);
  const windows = (usual.length > 0 ? usual : opened).flatMap(({ contextTokens }) =>
    contextTokens === undefined ? [] : [contextTokens],
  );
  const models = opened.map(({ known }) => known);
  const { retry, clock, random } = parts;
  return {
    provider: createDeploymentsProvider(opened, { retry, clock, random }),
    contextTokens: windows.length === 0 ? undefined : Math.min(...windows),
    costOf: toCostOf(opened),
    // Each of them is asked as its own model is; these values are used if a model has none.
    reasoning: {
      effort: models.every(({ reasoning }) => reasoning.effort === models[0]?.reasoning.effort)
        ? models[0]?.reasoning.effort
        : undefined,
      summary: models[0]?.reasoning.summary,
    },
    native: joinNative(models),
    checkInput: (items) => checkAny(models, items),
  };
}

/**
 * Tools that only some of them run are run by us, so that they work whichever answers; items that one of them made are
 * kept for it.
 */
function joinNative(models: readonly OpenedModel[]): NativeModel | undefined {
  const all = models.flatMap(({ native }) => (native ? [native] : []));
  const isAll = all.length === models.length;
  const everyOne = (test: (one: NativeModel) => boolean): boolean => isAll && all.every(test);
  if (all.length === 0) return undefined;
  return {
    runs: (tool, asked) => everyOne((one) => one.runs(tool, asked)),
    lost: (tool) => [...new Set(all.flatMap((one) => one.lost(tool)))],
    knows: (type) => everyOne((one) => one.knows(type)),
    owns: (item) => all.some((one) => one.owns(item)),
    isPriced: (tool) => all.every((one) => one.isPriced(tool)),
    readsStores: (tool) => all.some((one) => one.readsStores(tool)),
    isClients: (tool) => everyOne((one) => one.isClients(tool)),
    types: (all[0]?.types ?? []).filter((type) => everyOne(({ types }) => types.includes(type))),
  };
}

function toCostOf(opened: readonly Opened[]): OpenedModel["costOf"] {
  return (usage, deployment) => {
    const answered = opened.find(({ label }) => label === deployment);
    return answered ? answered.known.costOf(usage) : toMost(opened, usage);
  };
}

/** Undefined if one of them has an unknown price: then the most is not known. */
function toMost(opened: readonly Opened[], usage: Usage): number | undefined {
  let most = 0;
  for (const { known } of opened) {
    const cost = known.costOf(usage);
    if (cost === undefined || Number.isNaN(cost)) return cost;
    most = Math.max(most, cost);
  }
  return most;
}

/** One that takes the input is enough; calls go only to those that do. */
function checkAny(models: readonly OpenedModel[], items: readonly Item[]): void {
  let refusal: unknown;
  for (const { checkInput } of models) {
    try {
      return checkInput(items);
    } catch (thrown) {
      refusal ??= thrown;
    }
  }
  throw refusal;
}
