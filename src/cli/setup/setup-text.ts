/** The texts of the setup. Pure: words in, lines out. */

import { MODELS } from "../../providers/models/model-table.ts";
import type { Catalog } from "../../providers/vendors/catalog.ts";
import type { LocalServer } from "../../providers/vendors/local-servers.ts";
import type { FoundSetup } from "./look-around.ts";

/** Describes what was found, one line for each kind. */
export function toFoundLines({ keys, problem, servers, model }: FoundSetup): string[] {
  const named = (isStored: boolean): string =>
    keys.flatMap((key) => (key.isStored === isStored ? [key.variable] : [])).join(", ");
  const local = servers.map(({ vendor, baseUrl, model: name }) => {
    return `${vendor} at ${new URL(baseUrl).host} (${name})`;
  });
  return [
    `keys in the environment:  ${named(false) || "none"}`,
    `stored keys:              ${problem ?? (named(true) || "none")}`,
    `servers on this machine:  ${local.join(", ") || "none"}`,
    `default model:            ${model ? `${model.ref} (${model.source})` : "none"}`,
  ];
}

/** For pipes, and without a person to ask: what was found, and the commands to type. */
export function toPlainLines(found: FoundSetup): string[] {
  const { keys, servers, model } = found;
  const [server] = servers;
  const vendor = keys[0]?.vendor ?? "openai";
  const isReady = model !== undefined || keys.length > 0 || server !== undefined;
  return [
    isReady ? "A model can be asked here." : "No model is set up yet.",
    ...toFoundLines(found),
    "To set one up, answer a few questions on a terminal:  offshoot setup",
    "Or by commands:",
    `  offshoot auth set ${vendor}            type the key without echo, or pipe it in`,
    `  offshoot auth test ${vendor}           one short call`,
    server
      ? `  offshoot config set model ${server.vendor}/${server.model}`
      : `  offshoot config set model ${vendor}/MODEL   (offshoot models --all lists them)`,
  ];
}

/** For a server that is not among the vendors: it has no address yet, so no default model can be set. */
export function toOwnServerText(url: string, file: string): string {
  return [
    `A server of your own is a vendor in the settings. Add it to ${file} under a name:`,
    "  vendors:",
    "    mine:",
    `      url: ${url}`,
    "Then start `offshoot setup` again and type that name. For one run: -m custom/MODEL --url URL.",
    "",
  ].join("\n");
}

/** A choice that has a number. */
export type SetupOption =
  | { readonly kind: "server"; readonly server: LocalServer }
  | { readonly kind: "vendor"; readonly vendor: string };

/** The vendors that most people use; any other is typed by its name. */
const OFFERED = ["openai", "anthropic", "gemini", "openrouter", "mistral", "groq"];

/**
 * Servers of this machine first, because they cost nothing. Then vendors whose key is available.
 */
export function toOptions({ servers, keys, catalog }: FoundSetup): SetupOption[] {
  const hosted = keys.map(({ vendor }) => vendor).filter((vendor) => !catalog.of(vendor).local);
  const vendors = [...new Set([...hosted, ...OFFERED])];
  return [
    ...servers.map((server): SetupOption => ({ kind: "server", server })),
    ...vendors.map((vendor): SetupOption => ({ kind: "vendor", vendor })),
  ];
}

export function toMenu(options: readonly SetupOption[], found: FoundSetup): string {
  const lines = options.map(
    (option, at) => `  ${String(at + 1).padStart(2)}  ${describe(option, found)}`,
  );
  return [
    "Which model do you want to use?",
    ...lines,
    "Type a number, or the name of another vendor (`offshoot models --all` lists them).",
    "Enter alone continues without one; Ctrl-D leaves.",
    "",
  ].join("\n");
}

function describe(option: SetupOption, { keys, catalog }: FoundSetup): string {
  if (option.kind === "server") {
    const { vendor, model, baseUrl } = option.server;
    return `${vendor}/${model}, found at ${new URL(baseUrl).host}`;
  }
  const { vendor } = option;
  const key = keys.find((one) => one.vendor === vendor);
  const { summary, keyUrl } = catalog.of(vendor);
  if (key)
    return `${vendor} (${summary}): the key is ${key.isStored ? "stored" : "in the environment"}`;
  return `${vendor} (${summary}): needs a key${keyUrl ? `, ${keyUrl}` : ""}`;
}

/** More would scroll the question away. */
const MAX_MODELS = 9;

/** The vendor's default model first, if it has one. */
export function toModelNames(vendor: string, catalog: Catalog): string[] {
  const { defaultModel, models = [] } = catalog.of(vendor);
  const table = MODELS.filter((model) => model.vendor === vendor && !model.name.endsWith("*"));
  const names = [
    ...(defaultModel ? [defaultModel] : []),
    ...models,
    ...table.map((one) => one.name),
  ];
  return [...new Set(names)].slice(0, MAX_MODELS);
}

export function toModelMenu(vendor: string, names: readonly string[]): string {
  const lines = names.map((name, at) => `  ${at + 1}  ${vendor}/${name}${toPrice(vendor, name)}`);
  return [
    `Which model of ${vendor} do you want as the default?`,
    ...lines,
    names.length > 0
      ? "Type a number or another name. Enter alone takes the first."
      : "Type its name. Enter alone goes back.",
    "",
  ].join("\n");
}

function toPrice(vendor: string, name: string): string {
  const { price } = MODELS.find((one) => one.vendor === vendor && one.name === name) ?? {};
  if (!price || price.output === 0) return "";
  return `  $${price.input} in, $${price.output} out per million tokens`;
}
