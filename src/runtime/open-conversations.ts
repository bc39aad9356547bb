/** Opens the files of children's conversations, if the settings ask for them. */

import type { Clock } from "../base/clock.ts";
import type { Environment } from "../base/environment.ts";
import { type Log, silentLog } from "../base/log.ts";
import { createRedact, findSecrets } from "../base/redact.ts";
import type { Conversations } from "../delegation/conversations.ts";
import type { DelegationSettings } from "../delegation/settings.ts";
import type { Engine } from "../engine/engine.ts";
import { writePrivateFile } from "./private-file.ts";

interface Options {
  readonly conversationsDir?: string | undefined;
  readonly subagentLog?: Log | undefined;
  readonly env: Environment;
  readonly delegation: Pick<DelegationSettings, "persistenceEnabled">;
  readonly engine: Pick<Engine, "ended" | "record">;
  readonly clock: Clock;
}

export async function openConversations(options: Options): Promise<Conversations | undefined> {
  const { conversationsDir: dir, subagentLog: log = silentLog, delegation } = options;
  const { env, engine, clock } = options;
  if (dir === undefined || !delegation.persistenceEnabled) return undefined;
  const { createConversations } = await import("../delegation/conversations.ts");
  const secrets = findSecrets(env);
  return createConversations({
    dir,
    log,
    clock,
    record: engine.record,
    write: writePrivateFile,
    // A call's arguments are JSON inside a text: a secret is in them as JSON spells it.
    redact: createRedact([...secrets, ...secrets.map(toEscaped)]),
    whenEnded: (id, signal) => engine.ended(id, signal),
  });
}

function toEscaped(secret: string): string {
  return JSON.stringify(secret).slice(1, -1);
}
