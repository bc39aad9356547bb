/**
 * The setup on a terminal: what was found, a key, a test call, a default model. Plain questions, one after the other;
 * nothing is overwritten. Each step stores its result before the next one asks, so the person can leave at any step.
 * A key is stored before it is tried, and one that its vendor refuses is removed again.
 */

import { systemClock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { createRedact, findSecrets } from "../../base/redact.ts";
import { clip, nearest } from "../../base/text.ts";
import { formatModelRef, parseModelRef } from "../../providers/models/model-ref.ts";
import { writeSetting } from "../../runtime/config/config-write.ts";
import { checkKey, findKeyOwner, type KeyOwner } from "../auth-input.ts";
import type { Io, Terminal } from "../io.ts";
import { attachKeys, keyStoreOf } from "../open-keys.ts";
import { cleanForTerminal } from "../terminal.ts";
import { makeTestCall } from "../test-call.ts";
import { type FoundSetup, lookAround } from "./look-around.ts";
import {
  type SetupOption,
  toFoundLines,
  toMenu,
  toModelMenu,
  toModelNames,
  toOptions,
  toOwnServerText,
} from "./setup-text.ts";

/**
 * `left`: by Ctrl-C or Ctrl-D. `words` were typed in place of a choice, and are meant for the model.
 */
export interface SetupEnd {
  readonly how: "done" | "skipped" | "left";
  readonly words: string | undefined;
}

export interface SetupParts {
  readonly io: Io;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** Asks the model once. When left out, by a real call. */
  readonly tryModel?: typeof makeTestCall | undefined;
}

/** The person has left; what is stored so far stays. */
const LEFT = Symbol("left");
/** Back to the previous question. */
const BACK = Symbol("back");

export async function runSetup(parts: SetupParts): Promise<SetupEnd> {
  const setup = new Setup(parts);
  const how = await setup.run();
  return { how, words: setup.words };
}

class Setup {
  readonly #parts: SetupParts;
  words: string | undefined;

  constructor(parts: SetupParts) {
    this.#parts = parts;
  }

  async run(): Promise<SetupEnd["how"]> {
    this.#say(
      "Offshoot needs a model to talk to. This sets one up; nothing is sent until you say so.\n",
    );
    for (;;) {
      const found = await lookAround(this.#parts.io);
      for (const line of toFoundLines(found)) this.#say(`  ${line}`);
      this.#say("");
      const option = await this.#choose(found);
      if (option === LEFT) return this.#leave();
      if (option === undefined) {
        this.#say("Continuing without one. `offshoot setup` starts this again.");
        return "skipped";
      }
      const next = await this.#useOption(option, found);
      if (next === LEFT) return this.#leave();
      if (next !== BACK) return "done";
    }
  }

  #leave(): "left" {
    this.#say("Left. What you have set so far stays; `offshoot setup` continues from there.");
    return "left";
  }

  /** Undefined if no model is wanted now. */
  async #choose(found: FoundSetup): Promise<SetupOption | typeof LEFT | undefined> {
    const options = toOptions(found);
    let text = toMenu(options, found);
    for (;;) {
      const typed = await this.#ask(`${text}> `);
      if (typed === LEFT) return LEFT;
      if (typed === "") return undefined;
      const option = options[Number(typed) - 1];
      if (option) return option;
      if (/^https?:\/\//.test(typed) || typed === "custom") {
        const url = typed === "custom" ? "http://127.0.0.1:8000/v1" : typed;
        text = toOwnServerText(url, found.config.paths.configFile);
        continue;
      }
      if (found.catalog.has(typed)) return { kind: "vendor", vendor: typed };
      text = this.#explain(typed, found);
    }
  }

  #explain(typed: string, { catalog }: FoundSetup): string {
    if (/\s/.test(typed)) {
      this.words = typed;
      return "That is kept as your first prompt, for when there is a model. Which one?\n";
    }
    const guess = nearest(typed, catalog.names);
    const hint = guess === undefined ? "" : ` Did you mean \`${guess}\`?`;
    // The typed text may be a key.
    const shown = typed.length > 24 ? "That is not a vendor" : `Unknown vendor \`${typed}\``;
    return `${shown}.${hint} Type a number or a vendor's name.\n`;
  }

  async #useOption(
    option: SetupOption,
    found: FoundSetup,
  ): Promise<"done" | typeof LEFT | typeof BACK> {
    if (option.kind === "server") {
      const { vendor, model } = option.server;
      return await this.#finish(`${vendor}/${model}`, found, option.server.baseUrl);
    }
    const { vendor } = option;
    const { defaultModel, local } = found.catalog.of(vendor);
    const keyed = local ? "ready" : await this.#prepareKey(vendor, found);
    if (keyed !== "ready" && keyed !== "tested") return keyed;
    const model = await this.#chooseModel(vendor, found);
    if (model === LEFT || model === BACK) return model;
    const isTested = keyed === "tested" && defaultModel !== undefined;
    return isTested ? await this.#keepModel(model, found) : await this.#finish(model, found);
  }

  /** `tested` if the vendor has accepted the key. */
  async #prepareKey(
    vendor: string,
    found: FoundSetup,
  ): Promise<"ready" | "tested" | typeof LEFT | typeof BACK> {
    let owner: KeyOwner;
    try {
      owner = findKeyOwner("set", vendor, found.catalog);
    } catch (thrown) {
      this.#say(toFailure(thrown).message);
      return BACK;
    }
    const known = found.keys.find((key) => key.vendor === vendor);
    if (known) {
      const how = await this.#tryKey(owner, found);
      if (how !== "refused") return how;
      if (!known.isStored) {
        this.#say(
          `\`${known.variable}\` of the environment wins over a stored key: change it there.`,
        );
        return BACK;
      }
    }
    return await this.#takeKey(owner, found);
  }

  async #takeKey(
    owner: KeyOwner,
    found: FoundSetup,
  ): Promise<"ready" | "tested" | typeof LEFT | typeof BACK> {
    const { keyUrl } = found.catalog.of(owner.vendor);
    if (keyUrl) this.#say(`Get a key at ${keyUrl}.`);
    const store = await keyStoreOf(this.#parts.io);
    for (;;) {
      const typed = await this.#askHidden(
        `Key of ${owner.vendor} (not shown; Enter alone goes back): `,
      );
      if (typed === LEFT) return LEFT;
      if (typed.trim() === "") return BACK;
      try {
        const now = new Date(systemClock.now());
        const wish = found.config.get("key_store");
        const where = await store.set({ ...owner, key: checkKey(typed), wish, now });
        this.#say(`Stored in ${where}.`);
      } catch (thrown) {
        this.#say(toFailure(thrown).message);
        continue;
      }
      await attachKeys(this.#parts.io);
      const how = await this.#tryKey(owner, found);
      if (how !== "refused") return how;
      await store.remove(owner.variable);
      await attachKeys(this.#parts.io);
      this.#say("It is removed again.");
    }
  }

  async #tryKey({ vendor }: KeyOwner, found: FoundSetup): Promise<"ready" | "tested" | "refused"> {
    const { defaultModel } = found.catalog.of(vendor);
    if (defaultModel === undefined) return "ready";
    return await this.#tryModel(`${vendor}/${defaultModel}`, found);
  }

  /**
   * `ready` if the call failed for another reason than its key: that is reported, and the key stays.
   */
  async #tryModel(
    ref: string,
    { config }: FoundSetup,
    url?: string,
  ): Promise<"ready" | "tested" | "refused"> {
    const { io, signal, tryModel = makeTestCall } = this.#parts;
    this.#say(`One short call to ${ref} …`);
    try {
      const { cost_usd } = await tryModel({ config, ref, url, io, signal });
      const cost = cost_usd === null || cost_usd === 0 ? "" : ` It cost $${cost_usd.toFixed(6)}.`;
      this.#say(`It answers.${cost}`);
      return "tested";
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const { code, message } = toFailure(thrown);
      const isRefused = code === "provider_unauthorized";
      this.#say(
        isRefused
          ? `The key is refused. ${clip(message, 300)}`
          : `The test call failed; what you set is kept. ${clip(message, 300)}`,
      );
      return isRefused ? "refused" : "ready";
    }
  }

  async #chooseModel(
    vendor: string,
    { catalog }: FoundSetup,
  ): Promise<string | typeof LEFT | typeof BACK> {
    const names = toModelNames(vendor, catalog);
    let text = toModelMenu(vendor, names);
    for (;;) {
      const typed = await this.#ask(`${text}> `);
      if (typed === LEFT) return LEFT;
      const name = names[typed === "" ? 0 : Number(typed) - 1] ?? typed;
      if (name === "") return BACK;
      if (/\s/.test(name)) {
        text = "A model's name has no blanks. Type a number or the name.\n";
        continue;
      }
      try {
        const ref = name.startsWith(`${vendor}/`) ? name : `${vendor}/${name}`;
        return formatModelRef(parseModelRef(ref, vendor, catalog));
      } catch (thrown) {
        text = `${toFailure(thrown).message}\n`;
      }
    }
  }

  /**
   * For a server of this machine, or a vendor without a default model, the model itself is tried.
   */
  async #finish(ref: string, found: FoundSetup, url?: string): Promise<"done" | typeof BACK> {
    const how = await this.#tryModel(ref, found, url);
    if (how === "refused") return BACK;
    return await this.#keepModel(ref, found);
  }

  async #keepModel(text: string, { config }: FoundSetup): Promise<"done" | typeof BACK> {
    const { configFile, trustFile } = config.paths;
    try {
      const vendors = config.get("vendors");
      await writeSetting({ file: configFile, name: "model", text, trustFile, vendors });
      this.#say(`The default model is ${text}, in ${configFile}.`);
    } catch (thrown) {
      this.#say(`${toFailure(thrown).message} Use -m ${text}.`);
    }
    return "done";
  }

  async #ask(prompt: string): Promise<string | typeof LEFT> {
    const line = await this.#parts.terminal.ask(cleanForTerminal(prompt), this.#parts.signal);
    return line === undefined ? LEFT : line.trim();
  }

  async #askHidden(prompt: string): Promise<string | typeof LEFT> {
    const line = await this.#parts.terminal.askHidden(cleanForTerminal(prompt), this.#parts.signal);
    return line ?? LEFT;
  }

  #say(text: string): void {
    const { terminal, io } = this.#parts;
    terminal.show(`${cleanForTerminal(createRedact(findSecrets(io.env))(text))}\n`);
  }
}

/** Resolves with true if the person left. Rejects as `runSetup` does, except for an interrupt. */
export async function setUpOnTerminal(
  io: Io,
  terminal: Terminal,
): Promise<SetupEnd & { readonly interrupted: boolean }> {
  const abort = new AbortController();
  const stopListening = io.onInterrupt(() =>
    abort.abort(new Failure("cancelled", "The set-up was left.")),
  );
  try {
    const end = await runSetup({ io, terminal, signal: abort.signal });
    return { ...end, interrupted: false };
  } catch (thrown) {
    if (!abort.signal.aborted) throw thrown;
    terminal.show(
      "\nLeft. What you have set so far stays; `offshoot setup` continues from there.\n",
    );
    return { how: "left", words: undefined, interrupted: true };
  } finally {
    stopListening();
  }
}
