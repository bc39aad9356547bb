/** A server over one provider, with everything that a request can name. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import type { ModelOverride } from "../../../src/providers/models/models.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { type Reply, reply, respond } from "../../../src/testing/index.ts";
import { createWorkspaceFolder } from "../../tools/workspace-folder.ts";
import { SERVED, startProviderServer } from "../provider-servers.ts";
import { FILES, MACHINE, WEB_TOOLS } from "../scenario-server.ts";
import type { Column } from "./cells.ts";
import { BUCKET, OWN_HEADERS, OWN_OPTIONS } from "./feature-probes.ts";
import { WINDOW_TOKENS } from "./parameter-probes.ts";
import { MEDIA } from "./part-probes.ts";
import type { World } from "./probe.ts";

export async function openWorld(
  context: Pick<TestContext, "after">,
  column: Column,
): Promise<World> {
  const prompts = createWorkspaceFolder({ "greet.md": "Marked {{who}}, greet." });
  context.after(() => prompts[Symbol.dispose]());
  const media = await startMedia(context);
  let answer: (request: ModelRequest) => Reply = greet;
  const opened = await startProviderServer(
    context,
    column,
    respond((request) => answer(request)),
    {
      files: FILES,
      tools: WEB_TOOLS,
      overrides: toOverrides(column),
      settings: {
        promptsDir: prompts.root,
        machine: MACHINE,
        // Every other host is private.
        web: { privateHosts: [new URL(media).hostname, BUCKET], resolve: async () => ["10.0.0.7"] },
      },
    },
  );
  return {
    ...opened,
    column,
    media,
    script: (next) => {
      answer = next ?? greet;
    },
  };
}

/** Each model has a window, a field and a header of its own in the settings. */
function toOverrides(column: Column): readonly ModelOverride[] {
  const [vendor = "", ...name] = SERVED[column].model.split("/");
  const own = { options: OWN_OPTIONS[column], headers: OWN_HEADERS };
  return [{ vendor, name: name.join("/"), contextTokens: WINDOW_TOKENS, ...own }];
}

const greet = (): Reply => reply.text("Hello to you.");

async function startMedia(context: Pick<TestContext, "after">): Promise<string> {
  const server = createServer((request, response) => {
    const found = MEDIA[request.url ?? ""];
    response.writeHead(found ? 200 : 404, { "content-type": found?.type ?? "text/plain" });
    response.end(found?.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
