/**
 * The keys that a person has stored. Files list them (`key-files.ts`); the secret is in the same file, or in the
 * system's keyring, as `key_store` said when it was stored.
 */

import type { Environment } from "../../base/environment.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { attachStoredKeys } from "../../base/stored-keys.ts";
import {
  type KeyFiles,
  readKeyFiles,
  removeKeyFile,
  type StoredEntry,
  VARIABLE_NAME,
  writeKeyFile,
} from "./key-files.ts";
import type { KeyStoreName } from "./key-store-names.ts";
import { findKeyring, type Keyring } from "./keyring.ts";

export interface KeyStore {
  /** Without the secrets in the keyring, which is not asked. */
  list(): Promise<KeyFiles>;
  /** Returns where the key is now, in words. */
  set(key: NewVendorKey): Promise<string>;
  /** False if none was stored. */
  remove(variable: string): Promise<boolean>;
  /** Reads all keys, and attaches them to the environment object. An unreadable key is reported when it is needed. */
  attach(env: Environment): Promise<void>;
}

export interface NewVendorKey {
  readonly variable: string;
  readonly vendor: string;
  readonly key: string;
  readonly wish: KeyStoreName;
  readonly now: Date;
}

interface Parts {
  readonly folder: string;
  readonly env: Environment;
  readonly uid: number | undefined;
  /** The keyring of this system when left out. */
  readonly keyring?: (() => Keyring | undefined) | undefined;
}

export function openKeyStore(parts: Parts): KeyStore {
  const { folder, env, uid } = parts;
  const keyring = parts.keyring ?? (() => findKeyring(env, process.platform));
  return {
    list: () => readKeyFiles(folder, uid),
    async set({ variable, vendor, key, wish, now }) {
      checkVariable(variable);
      const ring = await pickKeyring(wish, keyring);
      const stored = now.toISOString();
      if (!ring) {
        const file = await writeKeyFile(folder, { variable, vendor, place: "file", key, stored });
        return `${file} (mode 600)`;
      }
      // The secret first: an entry without one would be a key that is missing.
      await ring.write(variable, key);
      await writeKeyFile(folder, { variable, vendor, place: "keyring", key: undefined, stored });
      return ring.name;
    },
    async remove(variable) {
      checkVariable(variable);
      const { entries } = await readKeyFiles(folder, uid);
      const entry = entries.find((one) => one.variable === variable);
      if (entry?.place === "keyring") await keyring()?.remove(variable);
      return await removeKeyFile(folder, variable);
    },
    async attach(into) {
      const { entries, problems } = await readKeyFiles(folder, uid);
      const read = await Promise.all(entries.map((entry) => readKey(entry, keyring)));
      const keys = read.flatMap((one) => (one instanceof Failure ? [] : [one]));
      const failed = read.find((one) => one instanceof Failure);
      attachStoredKeys(into, new Map(keys), problems[0] ?? failed?.message);
    },
  };
}

function checkVariable(variable: string): void {
  if (VARIABLE_NAME.test(variable)) return;
  throw new Failure("invalid_request", `\`${variable}\` is not the name of a variable.`);
}

async function pickKeyring(
  wish: KeyStoreName,
  keyring: () => Keyring | undefined,
): Promise<Keyring | undefined> {
  if (wish === "file") return undefined;
  const ring = keyring();
  if (ring && (await ring.answers())) return ring;
  if (wish === "auto") return undefined;
  const message =
    "No keyring answers on this system, and `key_store` is `keyring`. Use files: `offshoot config set key_store file`.";
  throw new Failure("invalid_request", message);
}

async function readKey(
  { variable, place, key }: StoredEntry,
  keyring: () => Keyring | undefined,
): Promise<[string, string] | Failure> {
  if (key !== undefined) return [variable, key];
  try {
    const found = place === "keyring" ? await keyring()?.read(variable) : undefined;
    if (found !== undefined) return [variable, found];
    const message = `The keyring has no key \`${variable}\` any more. Store it again with \`offshoot auth set\`.`;
    return new Failure("key_missing", message);
  } catch (thrown) {
    return toFailure(thrown);
  }
}
