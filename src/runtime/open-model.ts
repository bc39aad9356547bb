/**
 * A task's model, made usable: the vendor's row, the key from the environment, the wire, and what
 * the table knows of the model. What only one of them needs is imported when it is that one.
 */

import { Failure } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import { createRedact, findSecrets } from "../base/redact.ts";
import type { RetryPolicy } from "../base/retry.ts";
import type { Item } from "../protocol/items.ts";
import type { Usage } from "../protocol/usage.ts";
import { baseUrlOf } from "../providers/base-url.ts";
import { type Vendor, type VendorName, vendorOf } from "../providers/catalog.ts";
import { keyVariableIn } from "../providers/choose-model.ts";
import { EMBEDDED, parseModelRef } from "../providers/model-ref.ts";
import {
  costOf,
  dropRefused,
  findModel,
  type Model,
  type ModelOverride,
} from "../providers/models.ts";
import type { Provider, Reasoning } from "../providers/provider.ts";
import { wireFor } from "../providers/provider-names.ts";
import type { Timeouts, Transport } from "../providers/transport.ts";
import type { Quirks } from "../providers/wire.ts";
import { VERSION } from "../version.ts";

export interface OpenedModel {
  readonly provider: Provider;
  readonly contextTokens: number | undefined;
  readonly costOf: (usage: Usage) => number | undefined;
  readonly reasoning: Reasoning;
  /** Rejects items of a kind that the model is known not to take. */
  readonly checkInput: (items: readonly Item[]) => void;
}

/** The part of a task that says which model is meant. */
export interface ModelWish {
  readonly model: string;
  readonly provider: string | null;
  readonly url: string | null;
  readonly api_key_name: string | null;
  readonly think: boolean;
}

export interface ModelParts {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opened when the first request needs it. */
  readonly transport: () => Promise<Transport>;
  readonly overrides?: readonly ModelOverride[] | undefined;
  readonly timeouts?: Timeouts | undefined;
  readonly retry?: RetryPolicy | undefined;
  readonly quirks?: Quirks | undefined;
  readonly log?: Log | undefined;
}

/** Rejects with what is missing (`key_missing`) or wrong (`invalid_request`); sends nothing. */
export async function openModel(wish: ModelWish, parts: ModelParts): Promise<OpenedModel> {
  const { vendor, model: name } = parseModelRef(wish.model, wish.url ? "custom" : undefined);
  const reasoning = reasoningFor(wish.think);
  if (vendor === EMBEDDED) {
    const { createEmbeddedProvider } = await import("../providers/embedded/provider.ts");
    const provider = createEmbeddedProvider();
    return { provider, contextTokens: undefined, costOf: () => 0, reasoning, checkInput() {} };
  }
  const model = findModel(vendor, name, parts.overrides);
  const { local } = vendorOf(vendor);
  // A server of one's own costs nothing; of one at an address we were given we know nothing.
  const isFree = local && vendor !== "custom";
  return {
    provider: await openHttpProvider(vendor, wish, {
      ...parts,
      prepare: (request) => dropRefused(model, request),
    }),
    contextTokens: model.contextTokens,
    costOf: (usage) => (isFree ? 0 : costOf(model, usage)),
    // A server we know nothing of is not asked for more than the API's oldest form has.
    checkInput: (items) => checkInput(model, items),
    reasoning: { ...reasoning, sealed: model.reasoning && !local && vendor !== "custom" },
  };
}

function checkInput({ vendor, name, vision, pdf }: Model, items: readonly Item[]): void {
  const kinds = new Set(
    items.flatMap((item) =>
      item.type === "message" && typeof item.content !== "string"
        ? item.content.map((part) => part.type)
        : [],
    ),
  );
  const refused =
    (kinds.has("input_image") && !vision && "images") ||
    (kinds.has("input_file") && !pdf && "PDFs");
  if (!refused) return;
  const message = `${vendor}/${name} takes no ${refused}. Choose another model, or leave them out.`;
  throw new Failure("invalid_request", message, { param: "input" });
}

function reasoningFor(think: boolean): Reasoning {
  return think ? { effort: "high", summary: "detailed" } : { effort: "none", summary: undefined };
}

type Prepare = (request: Parameters<typeof dropRefused>[1]) => ReturnType<typeof dropRefused>;

async function openHttpProvider(
  name: VendorName,
  wish: ModelWish,
  parts: ModelParts & { readonly prepare: Prepare },
): Promise<Provider> {
  const vendor = vendorOf(name);
  const wire = wireFor(name, wish.provider ?? undefined);
  const baseUrl = baseUrlOf(name, { url: wish.url ?? undefined, env: parts.env });
  const key = keyFor(name, wish, parts.env);
  const auth = authHeaders(vendor, key);
  const { createHttpProvider } = await import("../providers/http-provider.ts");
  return createHttpProvider({
    vendor: name,
    wire,
    baseUrl,
    headers: { "user-agent": `offshoot/${VERSION}`, ...vendor.headers },
    sign: async () => auth,
    quirks: { ...vendor.quirks, ...parts.quirks },
    transport: await parts.transport(),
    prepare: parts.prepare,
    // Its variable may have a name that says nothing of a key.
    redact: createRedact([...findSecrets(parts.env), key ?? ""]),
    ...(parts.timeouts ? { timeouts: parts.timeouts } : {}),
    ...(parts.retry ? { retry: parts.retry } : {}),
    ...(parts.log ? { log: parts.log } : {}),
  });
}

function keyFor(name: VendorName, wish: ModelWish, env: ModelParts["env"]): string | undefined {
  const { keyVariable, keyUrl, local } = vendorOf(name);
  const variable = wish.api_key_name ?? keyVariableIn(name, env);
  const key = variable ? env[variable]?.trim() : undefined;
  if (key) return key;
  if (wish.api_key_name) {
    throw new Failure(
      "key_missing",
      `The variable \`${wish.api_key_name}\` is not set. Put the key there.`,
    );
  }
  // An address of the user's own may need no key; a vendor's own address does.
  if (local || keyVariable === undefined || wish.url) return undefined;
  const where = keyUrl ? ` Get one at ${keyUrl}.` : "";
  throw new Failure(
    "key_missing",
    `\`${name}\` needs a key in \`${keyVariable}\`, which is not set.${where}`,
  );
}

function authHeaders({ auth }: Vendor, key: string | undefined): Record<string, string> {
  if (key === undefined || auth === "none") return {};
  return auth === "api-key" ? { "api-key": key } : { authorization: `Bearer ${key}` };
}
