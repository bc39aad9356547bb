/**
 * Parses the name of a model that a person wrote: `vendor/model`, a vendor alone, or a model alone. The
 * first segment decides, so a model's own name may contain slashes (`openrouter/vendor/model`).
 */

import { Failure } from "../../base/failure.ts";
import { clip, nearestFew } from "../../base/text.ts";
import { CATALOG, type Catalog } from "../vendors/catalog.ts";
import { MODELS } from "./model-table.ts";
import { vendorsOfModel } from "./models.ts";

export interface ModelRef {
  /** A vendor of the catalogue, `embedded` or `gguf`. */
  readonly vendor: string;
  /** The vendor's own name of the model, or the path of a GGUF file. */
  readonly model: string;
}

export const EMBEDDED = "embedded";
export const EMBEDDED_MODEL = "offline";
/** The prefix of `gguf:path`, a file that is run in this process. */
export const GGUF = "gguf";

/**
 * Rejects unknown vendors and models. `otherwise` is the vendor of names that are not in the table:
 * `custom` if the user gave a base URL.
 */
export function parseModelRef(
  text: string,
  otherwise?: string | undefined,
  catalog: Catalog = CATALOG,
): ModelRef {
  const written = text.trim();
  if (written === "") throw invalid("The model's name is empty. Write it as vendor/model.");
  if (written.startsWith(`${GGUF}:`)) return parseGguf(written.slice(GGUF.length + 1));
  const slash = written.indexOf("/");
  const head = slash < 0 ? written : written.slice(0, slash);
  const tail = slash < 0 ? "" : written.slice(slash + 1);
  if (head === EMBEDDED) return parseEmbedded(tail);
  if (catalog.has(head)) {
    const model = tail || defaultModelOf(head, catalog);
    if (slash < 0 || tail !== "") return { vendor: head, model };
    throw invalid(`\`${head}/\` names no model. Write ${head}/MODEL, or ${head} for ${model}.`);
  }
  const vendor = vendorsOfModel(written).find(catalog.has) ?? otherwise;
  if (vendor) return { vendor, model: written };
  throw unknown({ written, head, tail }, catalog);
}

export function formatModelRef({ vendor, model }: ModelRef): string {
  return vendor === GGUF ? `${vendor}:${model}` : `${vendor}/${model}`;
}

function parseGguf(path: string): ModelRef {
  if (path !== "") return { vendor: GGUF, model: path };
  throw invalid(`\`${GGUF}:\` names no file. Write ${GGUF}:PATH.`);
}

function parseEmbedded(model: string): ModelRef {
  if (model === "" || model === EMBEDDED_MODEL) return { vendor: EMBEDDED, model: EMBEDDED_MODEL };
  throw invalid(
    `There is no embedded model \`${clip(model, 60)}\`. There is: ${EMBEDDED}/${EMBEDDED_MODEL}.`,
  );
}

function defaultModelOf(vendor: string, catalog: Catalog): string {
  const { defaultModel } = catalog.of(vendor);
  if (defaultModel !== undefined) return defaultModel;
  throw invalid(`\`${vendor}\` has no default model. Name one: ${vendor}/MODEL.`);
}

interface Written {
  readonly written: string;
  readonly head: string;
  readonly tail: string;
}

function unknown({ written, head, tail }: Written, { names, own }: Catalog): Failure {
  const guesses = guessRefs({ written, head, tail }, [...names, EMBEDDED]);
  const hint = guesses.length === 0 ? "" : ` Did you mean ${toChoice(guesses)}?`;
  const what = tail === "" ? "model or vendor" : "vendor";
  const name = clip(tail === "" ? written : head, 60);
  const yours = own.length === 0 ? "" : ` Yours: ${clip(own.join(", "), 100)}.`;
  return invalid(
    `Unknown ${what} \`${name}\`.${hint} Write vendor/model; \`offshoot models --all\` lists them.${yours}`,
  );
}

function toChoice(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(" or ");
}

/** The nearest valid names, in the form in which to write them. */
function guessRefs({ written, head, tail }: Written, vendors: readonly string[]): string[] {
  if (tail !== "") {
    return nearestFew(head, vendors).map((vendor) => `${vendor}/${clip(tail, 60)}`);
  }
  const near = nearestFew(written, vendors);
  if (near.length > 0) return near;
  const rows = MODELS.filter((row) => !row.name.endsWith("*"));
  return nearestFew(
    written,
    rows.map((row) => row.name),
  ).map((name) => `${rows.find((row) => row.name === name)?.vendor}/${name}`);
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message, { param: "model" });
}
