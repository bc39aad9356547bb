/** A server that asks for keys and has none yet would answer nobody: the first start makes one. */

import type { Clock } from "../../base/clock.ts";
import { createKey, hasKeys } from "../guard/keys.ts";
import type { Books } from "./books.ts";
import type { ServerSettings } from "./server-settings.ts";

/** The key, which is shown now or never; undefined where none was made. */
export async function makeFirstKey(
  { shelf }: Pick<Books, "shelf">,
  { guard }: Pick<ServerSettings, "guard">,
  clock: Clock,
): Promise<string | undefined> {
  if (!guard.auth || guard.fixedToken !== undefined || (await hasKeys(shelf))) return undefined;
  const { token } = await createKey({ shelf, clock }, { name: "first", options: ["*"] });
  return token;
}
