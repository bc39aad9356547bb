/** An app of `offshoot/server` over a scripted model. */

import type { TestContext } from "node:test";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import {
  createServerApp,
  type ServerApp,
  type ServerAppOptions,
} from "../../../src/server/index.ts";
import { createScriptedProvider, type Reply } from "../../../src/testing/index.ts";

export interface TestApp {
  readonly app: ServerApp;
  /** A key that may ask for responses. */
  readonly key: string;
  /** The requests to the model, oldest first. */
  readonly asked: readonly ModelRequest[];
}

/** Closed with the test. */
export async function openTestApp(
  t: TestContext,
  replies: readonly Reply[],
  options: ServerAppOptions = {},
): Promise<TestApp> {
  const provider = createScriptedProvider(...replies);
  const onDefect = (thrown: unknown): void => {
    process.stderr.write(`${thrown instanceof Error ? thrown.stack : thrown}\n`);
  };
  const app = await createServerApp({ env: {}, provider, onDefect, ...options });
  t.after(() => app.close());
  return { app, key: await app.createKey({ name: "test" }), asked: provider.requests };
}
