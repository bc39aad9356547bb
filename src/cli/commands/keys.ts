/**
 * `offshoot keys`: manages the keys of clients, in the record that `offshoot serve` reads while it runs.
 */

import { Failure } from "../../base/failure.ts";
import type { Config } from "../../runtime/config/config.ts";
import { type ClientKey, stateOf } from "../../server/guard/key.ts";
import {
  createKey,
  findNamedKey,
  listKeys,
  type NewClientKey,
  revokeKey,
  rotateKey,
  updateKey,
} from "../../server/guard/keys.ts";
import type { Options, RunCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { openConfig } from "../open-config.ts";
import { renderKey, toRow, toShown, toTable, toTime, type UsedKey } from "./key-text.ts";
import { parseKeyChange, parseKeyWish, readKeepOld } from "./key-wish.ts";
import { type OpenedBooks, openBooks } from "./open-books.ts";

export const run: RunCommand = async ({ words, options }, io) => {
  const [action = "list", ...names] = words;
  const act = ACTIONS[action];
  if (!act) throw new Failure("invalid_request", `Unknown command \`offshoot keys ${action}\`.`);
  if (names.length !== act.words.length) {
    const line = ["offshoot keys", action, ...act.words].join(" ");
    throw new Failure("invalid_request", `Write \`${line}\`.`);
  }
  const config = await openConfig({ store: options["store"] }, io);
  const books = await openBooks(config, io);
  try {
    await act.run(books, { io, options, config, name: names[0] ?? "" });
    return 0;
  } finally {
    await books.close();
  }
};

interface Asked {
  readonly io: Io;
  readonly options: Options;
  readonly config: Config;
  readonly name: string;
}

interface ActionRow {
  /** The words after the subcommand. */
  readonly words: readonly string[];
  run(books: OpenedBooks, asked: Asked): Promise<void>;
}

const ACTIONS: Readonly<Partial<{ [name: string]: ActionRow }>> = {
  create: { words: ["NAME"], run: create },
  list: { words: [], run: list },
  show: { words: ["NAME|ID"], run: show },
  update: { words: ["NAME|ID"], run: update },
  rotate: { words: ["NAME|ID"], run: rotate },
  revoke: { words: ["NAME|ID"], run: revoke },
};

/** Only the key goes to standard output, for `KEY=$(offshoot keys create …)`. */
async function create(books: OpenedBooks, { io, options, config, name }: Asked): Promise<void> {
  const wish = parseKeyWish(name, options, await lookAround(books, config));
  await checkNew(books, name);
  const made = await createKey(books, wish);
  await writeToken(made, { io, options });
  await io.stderr.write(
    `This is the key \`${made.key.id}\`. It is shown this once; keep it safe.\n`,
  );
  await warnOfDollars(made.key, io);
  const { isVendor } = await import("../../providers/vendors/catalog.ts");
  if (!isVendor(name)) return;
  const line = `It is for a client of your server. To store a key of ${name}: offshoot auth set ${name}\n`;
  await io.stderr.write(line);
}

/**
 * A key is revoked, rotated and found in the audit by its name, so a name must not be used twice.
 */
async function checkNew({ shelf }: OpenedBooks, name: string): Promise<void> {
  const taken = (await listKeys(shelf)).find((key) => key.name === name && !key.revoked_at_ms);
  if (!taken) return;
  const message = `There is a key named \`${name}\` already (${taken.id}). Choose another name, or give it a new secret: offshoot keys rotate ${name}`;
  throw new Failure("conflict", message);
}

/** Shown because people look here for the keys of vendors, which other programs also call keys. */
const ABOUT =
  "Keys for clients of `offshoot serve`. For the keys of model vendors: offshoot auth list";

async function list(books: OpenedBooks, { io, options }: Asked): Promise<void> {
  const nowMs = books.clock.now();
  const keys = await Promise.all(
    (await listKeys(books.shelf)).map(async (key) => await readUsed(books, key, nowMs)),
  );
  if (options["json"]) {
    await io.stdout.write(toLine(keys.map((key) => toWhole(key, nowMs))));
    return;
  }
  // Standard output has only the rows: programs read them too.
  await io.stderr.write(`${ABOUT}\n`);
  if (keys.length === 0) {
    await io.stderr.write("No keys yet. Make one: offshoot keys create NAME\n");
  }
  await io.stdout.write(toTable(keys.map((listed) => toRow(listed, nowMs))));
}

async function show(books: OpenedBooks, { io, options, name }: Asked): Promise<void> {
  const nowMs = books.clock.now();
  const found = await readUsed(books, await findNamedKey(books.shelf, name), nowMs);
  const text = options["json"] ? toLine(toWhole(found, nowMs)) : renderKey(found, nowMs);
  await io.stdout.write(text);
}

async function update(books: OpenedBooks, { io, options, config, name }: Asked): Promise<void> {
  if (Object.keys(options).every((flag) => flag === "json")) {
    const example = `\`offshoot keys update ${name} --usd-per-day 5\``;
    const message = `Say what to change, for example ${example}; \`none\` removes a limit. See \`offshoot keys --help\`.`;
    throw new Failure("invalid_request", message);
  }
  const change = parseKeyChange(options, await lookAround(books, config));
  const { id } = await findNamedKey(books.shelf, name);
  const key = await updateKey(books, id, change);
  const nowMs = books.clock.now();
  const changed = await readUsed(books, key, nowMs);
  await io.stdout.write(
    options["json"] ? toLine(toWhole(changed, nowMs)) : renderKey(changed, nowMs),
  );
  await io.stderr.write(`Changed. ${SOON}\n`);
  await warnOfDollars(key, io);
}

/** As for `create`: only the new secret goes to standard output. */
async function rotate(books: OpenedBooks, { io, options, name }: Asked): Promise<void> {
  const keepOldMs = readKeepOld(options["keep-old"]);
  const { id } = await findNamedKey(books.shelf, name);
  const made = await rotateKey(books, id, { keepOldMs });
  await writeToken(made, { io, options });
  const untilMs = made.key.replaced?.until_ms ?? 0;
  const old =
    keepOldMs > 0
      ? `The old one works until ${toTime(untilMs)} UTC.`
      : `The old one does not work any more. ${SOON}`;
  await io.stderr.write(
    `This is the new secret of the key \`${id}\`. It is shown this once; keep it safe. ${old}\n`,
  );
}

async function revoke(books: OpenedBooks, { io, options, name }: Asked): Promise<void> {
  const { id } = await findNamedKey(books.shelf, name);
  const key = await revokeKey(books, id);
  const told = `The key ${id} is revoked; running servers notice within seconds.\n`;
  await io.stdout.write(options["json"] ? toLine(toShown(key)) : told);
}

const SOON = "Running servers notice within two seconds.";

async function lookAround(
  { clock }: OpenedBooks,
  config: Config,
): Promise<{ readonly nowMs: number; readonly knownTools: readonly string[] }> {
  const { knownTools } = await import("../../runtime/settings.ts");
  return { nowMs: clock.now(), knownTools: knownTools(config) };
}

async function writeToken(
  { key, token }: NewClientKey,
  { io, options }: Pick<Asked, "io" | "options">,
): Promise<void> {
  await io.stdout.write(options["json"] ? toLine({ ...toShown(key), token }) : `${token}\n`);
}

async function warnOfDollars(key: ClientKey, io: Io): Promise<void> {
  if (!hasDollarLimit(key)) return;
  const line = "With a limit in dollars, this key cannot use models whose price is not known.";
  await io.stderr.write(`${line} Prices: offshoot models, or \`models\` in the settings.\n`);
}

function hasDollarLimit({ limits, response_limits }: ClientKey): boolean {
  const { usd_per_day, usd_total } = limits;
  return [usd_per_day, usd_total].some(Boolean) || response_limits.usd !== null;
}

async function readUsed(
  { spending }: OpenedBooks,
  key: ClientKey,
  nowMs: number,
): Promise<UsedKey> {
  const { day, total } = await spending.read(key.id, nowMs);
  return { key, used: { day, total } };
}

function toWhole({ key, used }: UsedKey, nowMs: number): object {
  return { ...toShown(key), state: stateOf(key, nowMs), used };
}

function toLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
