/**
 * `offshoot auth`: the keys of vendors, stored for the user of this machine. A key is read unseen from the terminal
 * or from standard input, never from the command's words, and is never printed.
 */

import { systemClock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { storedIn } from "../../base/stored-keys.ts";
import { clip } from "../../base/text.ts";
import { keyVariableIn } from "../../providers/models/choose-model.ts";
import { formatModelRef, parseModelRef } from "../../providers/models/model-ref.ts";
import type { Catalog } from "../../providers/vendors/catalog.ts";
import type { StoredEntry } from "../../runtime/auth/key-files.ts";
import type { Config } from "../../runtime/config/config.ts";
import { catalogOf } from "../../runtime/model-address.ts";
import { findKeyOwner, type KeyOwner, readKey } from "../auth-input.ts";
import type { CommandCall, RunCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { openConfig } from "../open-config.ts";
import { keyStoreOf } from "../open-keys.ts";
import { toMoney, toSeconds } from "../output/amounts.ts";
import { toOneLine } from "../terminal.ts";
import { makeTestCall } from "../test-call.ts";

export const run: RunCommand = async (call, io) => {
  const [action = "list", name, extra] = call.words;
  checkExtra(action, action === "list" ? name : extra);
  const config = await openConfig({}, io);
  const asked = { name, config, catalog: catalogOf(config), call, io };
  if (action === "set") return await set(asked);
  if (action === "test") return await test(asked);
  if (action === "remove") return await remove(asked);
  return await list(asked);
};

interface Asked {
  readonly name: string | undefined;
  readonly config: Config;
  readonly catalog: Catalog;
  readonly call: CommandCall;
  readonly io: Io;
}

/**
 * The word is not repeated: after `set VENDOR` it is a key, which is in the shell's history now.
 */
function checkExtra(action: string, extra: string | undefined): void {
  if (extra === undefined) return;
  const message =
    action === "set"
      ? "A key is not given as a word of the command, where the shell's history and other programs see it. Type it when asked, or pipe it in: `offshoot auth set VENDOR < FILE`."
      : `\`auth ${action}\` takes ${action === "list" ? "no vendor" : "one vendor"}.`;
  throw new Failure("invalid_request", message);
}

async function set({ name, config, catalog, io }: Asked): Promise<number> {
  const owner = findKeyOwner("set", name, catalog);
  const key = await readKey(owner, io);
  const store = await keyStoreOf(io);
  const wish = config.get("key_store");
  const where = await store.set({ ...owner, key, wish, now: new Date(systemClock.now()) });
  await io.stdout.write(`The key of ${owner.vendor} is stored in ${where}.\n`);
  const inEnvironment = variableIn(io.env, owner, catalog);
  if (inEnvironment !== undefined) {
    const line = `\`${inEnvironment}\` is set in the environment, and wins over the stored key.\n`;
    await io.stderr.write(line);
  } else await io.stderr.write(`Try it: offshoot auth test ${owner.vendor}\n`);
  return 0;
}

/** The environment variable that is used in place of the stored key. */
function variableIn(env: Io["env"], { vendor, variable }: KeyOwner, catalog: Catalog) {
  const used = catalog.has(vendor) ? keyVariableIn(vendor, env, catalog) : variable;
  return used !== undefined && env[used]?.trim() ? used : undefined;
}

async function remove({ name, catalog, io }: Asked): Promise<number> {
  const owner = findKeyOwner("remove", name, catalog);
  const store = await keyStoreOf(io);
  if (!(await store.remove(owner.variable))) {
    throw new Failure(
      "not_found",
      `No key of ${owner.vendor} is stored. See \`offshoot auth list\`.`,
    );
  }
  await io.stdout.write(`The stored key of ${owner.vendor} is removed.\n`);
  if (io.env[owner.variable]?.trim()) {
    await io.stderr.write(`\`${owner.variable}\` is still set in the environment.\n`);
  }
  return 0;
}

async function test({ name, config, catalog, call, io }: Asked): Promise<number> {
  const { model } = call.options;
  const owner = findKeyOwner("test", name, catalog);
  const usual = typeof model === "string" ? undefined : defaultOf(owner.vendor, catalog);
  const ref = usual ?? String(model);
  const parsed = parseModelRef(ref, owner.vendor, catalog);
  if (parsed.vendor !== owner.vendor) {
    throw new Failure("invalid_request", `\`${clip(ref, 80)}\` is not a model of ${owner.vendor}.`);
  }
  const from = describeSource(owner, catalog, io.env);
  const abort = new AbortController();
  const stopListening = io.onInterrupt(() => abort.abort());
  const began = systemClock.now();
  try {
    const shown = formatModelRef(parsed);
    const end = await makeTestCall({ config, ref: shown, io, signal: abort.signal });
    const took = toSeconds(systemClock.now() - began);
    const cost = toMoney(end.cost_usd);
    await io.stdout.write(
      `${owner.vendor} takes the key (${from}): ${shown} answered, ${took}, ${cost}.\n`,
    );
    return 0;
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (failure.code !== "provider_unauthorized") throw thrown;
    const message = `${owner.vendor} refuses the key (${from}). ${failure.message}`;
    throw new Failure(failure.code, message);
  } finally {
    stopListening();
  }
}

function defaultOf(vendor: string, catalog: Catalog): string {
  if (!catalog.has(vendor)) {
    const message = `No vendor has its key in \`${vendor}\`. Write \`offshoot auth test VENDOR\`.`;
    throw new Failure("invalid_request", message);
  }
  const { defaultModel, models = [] } = catalog.of(vendor);
  const model = defaultModel ?? models[0];
  if (model !== undefined) return `${vendor}/${model}`;
  const message = `\`${vendor}\` has no default model. Name one: offshoot auth test ${vendor} -m ${vendor}/MODEL.`;
  throw new Failure("invalid_request", message);
}

function describeSource(owner: KeyOwner, catalog: Catalog, env: Io["env"]): string {
  const variable = variableIn(env, owner, catalog);
  if (variable !== undefined) return `\`${variable}\` of the environment`;
  return storedIn(env, owner.variable) === undefined ? "none" : "stored";
}

interface ListedKey {
  readonly vendor: string;
  readonly variable: string;
  /** Where it is: "file", "keyring" or "environment". */
  readonly place: string;
  readonly stored: string | null;
  /** False for a stored key if the environment has another one. */
  readonly used: boolean;
}

async function list({ catalog, call, io }: Asked): Promise<number> {
  const { entries, problems } = await (await keyStoreOf(io)).list();
  const keys = toListed(entries, catalog, io.env);
  if (call.options["json"]) {
    await io.stdout.write(`${JSON.stringify({ keys, problems })}\n`);
    return problems.length > 0 ? 1 : 0;
  }
  if (keys.length === 0 && problems.length === 0) {
    await io.stderr.write("No keys yet. Store one: offshoot auth set VENDOR\n");
  }
  const widths = [
    Math.max(0, ...keys.map(({ vendor }) => vendor.length)),
    Math.max(0, ...keys.map(({ variable }) => variable.length)),
  ] as const;
  for (const { vendor, variable, place, stored, used } of keys) {
    const since = stored === null ? "" : `  since ${stored.slice(0, 10)}`;
    const mark = used ? "" : "  (not used: the environment's wins)";
    const line = `${vendor.padEnd(widths[0])}  ${variable.padEnd(widths[1])}  ${place}${since}${mark}`;
    await io.stdout.write(`${toOneLine(line)}\n`);
  }
  for (const problem of problems) await io.stderr.write(`offshoot: ${problem}\n`);
  return problems.length > 0 ? 1 : 0;
}

function toListed(entries: readonly StoredEntry[], catalog: Catalog, env: Io["env"]): ListedKey[] {
  const set = new Map<string, ListedKey>();
  for (const vendor of catalog.names) {
    const variable = keyVariableIn(vendor, env, catalog);
    if (variable === undefined || !env[variable]?.trim() || set.has(variable)) continue;
    set.set(variable, { vendor, variable, place: "environment", stored: null, used: true });
  }
  const stored = entries.map(({ vendor, variable, place, stored: since }): ListedKey => {
    const used = !env[variable]?.trim();
    return { vendor, variable, place, stored: since, used };
  });
  return [...set.values(), ...stored];
}
