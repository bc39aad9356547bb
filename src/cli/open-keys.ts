/** Makes the stored keys available to a command. */

import { existsSync } from "node:fs";
import { attachStoredKeys, takeStoredKeys } from "../base/stored-keys.ts";
import { CHILD_MARK, STORED_NAMES } from "../delegation/executors/child-mark.ts";
import type { KeyStore } from "../runtime/auth/key-store.ts";
import { userPaths } from "../runtime/paths.ts";
import type { Io } from "./io.ts";

type Place = Pick<Io, "env" | "home">;

export async function keyStoreOf({ env, home }: Place): Promise<KeyStore> {
  const { openKeyStore } = await import("../runtime/auth/key-store.ts");
  return openKeyStore({ folder: userPaths(env, home).authDir, env, uid: process.getuid?.() });
}

/**
 * Attaches them to the environment, where `keyIn` finds them. A child process reads none: its parent gave it the key
 * that it needs. If no key is stored, this costs one look at a folder.
 */
export async function attachKeys(io: Place): Promise<void> {
  if (io.env[CHILD_MARK]) {
    const names = io.env[STORED_NAMES]?.split(",") ?? [];
    // The environment object of the process is a copy (`process-io.ts`).
    if (names.length > 0) takeStoredKeys(io.env as Record<string, string | undefined>, names);
    return;
  }
  if (existsSync(userPaths(io.env, io.home).authDir)) await (await keyStoreOf(io)).attach(io.env);
  else attachStoredKeys(io.env, new Map());
}
