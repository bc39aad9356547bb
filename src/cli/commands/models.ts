/** `offshoot models`: lists the models that can be reached now, and how. */

import { systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { usesStored } from "../../base/stored-keys.ts";
import { clip } from "../../base/text.ts";
import type { Transport } from "../../providers/http/transport.ts";
import { keyVariableIn } from "../../providers/models/choose-model.ts";
import type { Model } from "../../providers/models/facts.ts";
import { EMBEDDED, EMBEDDED_MODEL } from "../../providers/models/model-ref.ts";
import { MODELS } from "../../providers/models/model-table.ts";
import { findModel } from "../../providers/models/models.ts";
import {
  isVendor,
  VENDOR_NAMES,
  type VendorName,
  vendorOf,
} from "../../providers/vendors/catalog.ts";
import {
  createProbe,
  findLocalServer,
  type LocalServer,
  originsIn,
} from "../../providers/vendors/local-servers.ts";
import { type Cloud, isCloud } from "../../providers/vendors/vendor.ts";
import type { Config } from "../../runtime/config/config.ts";
import { toModelOverrides } from "../../runtime/config/config-models.ts";
import { toVendorModels } from "../../runtime/config/config-vendors.ts";
import { catalogOf } from "../../runtime/model-address.ts";
import { createNetwork } from "../../runtime/network.ts";
import { createVendorModels } from "../../runtime/served-models/vendor-models.ts";
import type { RunCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { openConfig } from "../open-config.ts";
import { pull } from "./models-pull.ts";

export const run: RunCommand = async (call, io) => {
  const [subcommand = "list", name, ...rest] = call.words;
  const extra = subcommand === "pull" ? rest[0] : name;
  if (extra !== undefined) {
    const message = `\`models ${subcommand}\` takes no word \`${clip(extra, 60)}\`.`;
    throw new Failure("invalid_request", message);
  }
  if (subcommand === "pull") return pull(name, call, io);
  const config = await openConfig({}, io);
  const reachable = await listModels(config, io);
  const rows = call.options["all"]
    ? [...reachable, ...listUnreachable(reachable, config, io)]
    : reachable;
  if (call.options["json"]) await io.stdout.write(`${JSON.stringify(rows)}\n`);
  else await io.stdout.write(rows.map(renderRow).join(""));
  return 0;
};

/** A server on this machine with hundreds of models is asked about each. */
const LIST_LIMIT_MS = 5000;

interface Row {
  readonly model: string;
  /** Why it can be reached: a key's variable, a server's address, or nothing is needed. */
  readonly source: string;
  readonly context_tokens: number | null;
  /** US dollars for a million tokens; null if unknown. */
  readonly input_usd: number | null;
  readonly output_usd: number | null;
  /** The variable of the missing key; left out if the model can be reached now. */
  readonly needs?: string;
}

async function listModels(config: Config, io: Io): Promise<Row[]> {
  const withKey = VENDOR_NAMES.flatMap((vendor) => {
    const variable = keyVariableIn(vendor, io.env) ?? cloudVariableIn(vendor, io.env);
    if (!variable || vendorOf(vendor).local) return [];
    // A row that ends in `*` describes a family of models, not one model.
    const named = MODELS.filter((model) => model.vendor === vendor && !model.name.endsWith("*"));
    const source = usesStored(io.env, variable) ? `stored key (${variable})` : variable;
    return named.map((model) => toRow(model, source));
  });
  const own = await listOwn(config, io);
  const local = config.get("probe_local") ? await findLocal(io) : [];
  const embedded: Row = {
    model: `${EMBEDDED}/${EMBEDDED_MODEL}`,
    source: "built in, not a language model",
    context_tokens: null,
    input_usd: 0,
    output_usd: 0,
  };
  return [...withKey, ...own, ...local, embedded];
}

/**
 * Models that a key, or the credentials of a cloud, would make available. A vendor without models in the table has
 * one row.
 */
function listUnreachable(reachable: readonly Row[], config: Config, { env }: Io): Row[] {
  const catalog = catalogOf(config);
  const known = new Set(reachable.map(({ model }) => model.split("/")[0]));
  const vendors = catalog.names.filter((vendor) => {
    const { local, auth } = catalog.of(vendor);
    return !known.has(vendor) && !local && auth !== "none" && !keyVariableIn(vendor, env, catalog);
  });
  return vendors.flatMap((vendor): Row[] => {
    const { keyVariable, summary } = catalog.of(vendor);
    const needs = keyVariable ?? "credentials of its cloud";
    const how =
      keyVariable === undefined ? needs : `${keyVariable}, or offshoot auth set ${vendor}`;
    const named = MODELS.filter((model) => model.vendor === vendor && !model.name.endsWith("*"));
    const rows = named.map((model) => toRow(model, `needs ${how}`));
    const whole = toRow({ vendor, name: "MODEL" }, `needs ${how} (${summary})`);
    return (rows.length > 0 ? rows : [whole]).map((row) => ({ ...row, needs }));
  });
}

/** Variables that suggest that a cloud may be used here. Only a request shows if it works. */
const CLOUD_VARIABLES: Readonly<Record<Cloud, readonly string[]>> = {
  azure: ["AZURE_OPENAI_ENDPOINT"],
  google: ["GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID"],
  aws: [
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
  ],
};

function cloudVariableIn(vendor: VendorName, env: Io["env"]): string | undefined {
  const { auth } = vendorOf(vendor);
  return isCloud(auth) ? CLOUD_VARIABLES[auth].find((name) => env[name]) : undefined;
}

function toRow(
  { vendor, name, contextTokens, price }: Pick<Model, "vendor" | "name"> & Partial<Model>,
  source: string,
): Row {
  return {
    model: `${vendor}/${name}`,
    source,
    context_tokens: contextTokens ?? null,
    input_usd: price?.input ?? null,
    output_usd: price?.output ?? null,
  };
}

/** The models of vendors that the settings add. */
async function listOwn(config: Config, io: Io): Promise<Row[]> {
  const catalog = catalogOf(config);
  if (catalog.own.length === 0) return [];
  const overrides = [
    ...toVendorModels(config.get("vendors")),
    ...toModelOverrides(config.get("models")),
  ];
  const network = createNetwork(io.env);
  try {
    const parts = { catalog, env: io.env, clock: systemClock, transport: network.open };
    const models = await createVendorModels(parts)();
    return models.map(({ id, owned_by: vendor }) => {
      const { baseUrl, keyVariable, like } = catalog.of(vendor);
      const key = keyVariable === undefined ? "" : `, ${keyVariable}`;
      const model = findModel(vendor, id.slice(vendor.length + 1), overrides, like);
      return toRow(model, `${new URL(baseUrl).host}${key}`);
    });
  } finally {
    await network.close();
  }
}

async function findLocal(io: Io): Promise<Row[]> {
  const network = createNetwork(io.env);
  try {
    const probe = createProbe(await network.open());
    const server = await findLocalServer({ probe, origins: originsIn(io.env) });
    if (!server || !isVendor(server.vendor)) return [];
    return await listLocal(server, await network.open());
  } finally {
    await network.close();
  }
}

/** Ollama lists all its models; the other servers are asked for the one that they serve. */
async function listLocal(server: LocalServer, transport: Transport): Promise<Row[]> {
  const { vendor, model, baseUrl } = server;
  const signal = AbortSignal.timeout(LIST_LIMIT_MS);
  const source = new URL(baseUrl).host;
  const row = (name: string, context: number | undefined, more = ""): Row => ({
    model: `${vendor}/${name}`,
    source: `${source}${more}`,
    context_tokens: context ?? null,
    input_usd: 0,
    output_usd: 0,
  });
  if (vendor === "ollama") {
    const { listOllamaModels } = await import("../../providers/ollama/library.ts");
    const models = await listOllamaModels({ transport, baseUrl, signal });
    return models.map(({ name, bytes, capabilities, contextTokens }) => {
      const size = bytes === undefined ? "" : `, ${(bytes / 1e9).toFixed(1)} GB`;
      const abilities = capabilities ? `, ${capabilities.join(" ")}` : "";
      return row(name, contextTokens, size + abilities);
    });
  }
  if (vendor !== "llamacpp") return [row(model, undefined)];
  const { readServerProps } = await import("../../providers/llamacpp/server.ts");
  const props = await readServerProps(transport, baseUrl, signal).catch(() => undefined);
  return [row(model, props?.contextTokens)];
}

function renderRow({ model, source, context_tokens, input_usd, output_usd }: Row): string {
  const context = context_tokens === null ? "" : `${Math.round(context_tokens / 1000)}k`;
  const isPriced = input_usd !== null && output_usd !== null;
  const price = isPriced
    ? output_usd === 0
      ? "free"
      : `$${input_usd}/$${output_usd}`
    : "price unknown";
  return `${model.padEnd(40)} ${context.padStart(6)}  ${price.padEnd(16)} ${source}\n`;
}
