/**
 * The maker and version that a model id names: `us.anthropic.claude-opus-4-6-v1:0`, or an ARN that ends in
 * such an id. The Converse API is one for all models, but what they accept differs by maker.
 */

export interface ModelId {
  /** `anthropic`, `amazon`, `openai`. Empty if the id does not say, as in a custom profile. */
  readonly maker: string;
  /** The maker's own name, without date and revision: `claude-opus-4-6`, `nova-2-lite`. */
  readonly name: string;
}

/** The prefixes that inference profiles put before the maker. */
const REGION_GROUP = /^(global|apac|[a-z]{2}(-gov)?)\./;

export function parseModelId(id: string): ModelId {
  const last = id.split("/").at(-1) ?? "";
  const plain = last.replace(/:\d.*$/, "").replace(REGION_GROUP, "");
  const dot = plain.indexOf(".");
  if (dot < 1) return { maker: "", name: plain };
  const name = plain.slice(dot + 1).replace(/-v\d+$/, "");
  return { maker: plain.slice(0, dot), name: name.replace(/-\d{8}$/, "") };
}

/**
 * The version of Claude as a number, 4.6. A Claude without a version counts as a new one. Undefined for any
 * other model.
 */
export function claudeVersion({ maker, name }: ModelId): number | undefined {
  if (maker !== "anthropic" || !name.startsWith("claude")) return undefined;
  const [, major, minor = "0"] = /-(\d)(?:-(\d))?(?!\d)/.exec(name) ?? [];
  if (major !== undefined) return Number(`${major}.${minor}`);
  return /^claude(-instant)?$/.test(name) ? 2 : Number.POSITIVE_INFINITY;
}

/**
 * True if reasoning without a signature is sent back to the model. Claude and Nova sign theirs, DeepSeek-R1
 * refuses it, and the rule is not known for models of unknown makers.
 */
export function takesUnsigned({ maker, name }: ModelId): boolean {
  return !SIGNING.has(maker) && !(maker === "deepseek" && name.startsWith("r1"));
}

const SIGNING: ReadonlySet<string> = new Set(["", "anthropic", "amazon"]);
