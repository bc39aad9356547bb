/** Opens the server's data about keys for a command: the keys, what they used, what they did. */

import type { Config } from "../../runtime/config/config.ts";
import { toRecordAddress } from "../../runtime/config/store-address.ts";
import type { KeyParts } from "../../server/guard/keys.ts";
import type { Audit } from "../../store/audit.ts";
import { openKept } from "../../store/open-kept.ts";
import type { Spending } from "../../store/spending.ts";
import type { Io } from "../io.ts";

export interface OpenedBooks extends KeyParts {
  readonly spending: Spending;
  readonly audit: Audit;
  close(): Promise<void>;
}

export async function openBooks(config: Config, { env }: Pick<Io, "env">): Promise<OpenedBooks> {
  const kept = await openKept(toRecordAddress(config, env));
  return {
    shelf: await kept.shelf(),
    clock: await kept.clock(),
    close: () => kept.close(),
    spending: await kept.spending(),
    audit: await kept.audit(),
  };
}
