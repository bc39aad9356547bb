/**
 * `offshoot ui`: opens the console in the browser, for the record of this machine, until it is stopped.
 */

import { spawn } from "node:child_process";
import { CONSOLE_SCOPES, makeConsoleCode } from "../../server/console/console-sessions.ts";
import { runServer } from "../../server/running/run-server.ts";
import { openKept } from "../../store/open-kept.ts";
import type { RunCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { load, toServerProcess } from "./serve.ts";
import { toRemoteAddress } from "./ui-remote.ts";

/**
 * Listens on this machine only, at a free port, with keys: the page gets one by a code that works once.
 */
export const run: RunCommand = async ({ options }, io) => {
  const { "no-open": noOpen, port = "0", server, ...given } = options;
  const show = async (address: string): Promise<void> => {
    await io.stdout.write(`${address}\n`);
    if (noOpen !== true && io.stdout.isTerminal) openInBrowser(address, io);
  };
  if (typeof server === "string") {
    await show(await toRemoteAddress(server, io));
    return 0;
  }
  const flags = { ...given, host: "127.0.0.1", port, log: "off" };
  let storePath: string | undefined;
  const loadOnce = async (): ReturnType<typeof load> => {
    const loaded = await load(flags, io);
    storePath = loaded.settings.storePath;
    const guard = { ...loaded.settings.guard, auth: true };
    const settings = { ...loaded.settings, guard, workers: 1, console: "on" as const };
    return { ...loaded, settings };
  };
  return await runServer(loadOnce, {
    ...toServerProcess(io),
    // The page has a key of its own, so none is made for others.
    showKey: undefined,
    onListening: async (url) => {
      await show(`${url}/console/#code=${await makeCode(storePath)}`);
    },
  });
};

/** Stored in the record, because it is all that the server and this command share. */
async function makeCode(storePath: string | undefined): Promise<string> {
  const kept = await openKept(storePath);
  try {
    const parts = { shelf: await kept.shelf(), clock: await kept.clock() };
    return await makeConsoleCode(parts, { scopes: CONSOLE_SCOPES });
  } finally {
    await kept.close();
  }
}

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/** Without a browser, the address is on the terminal. */
function openInBrowser(address: string, { env }: Pick<Io, "env">): void {
  const [program = "xdg-open", ...words] = OPENERS[process.platform] ?? ["xdg-open"];
  const opened = spawn(program, [...words, address], {
    env: { ...env },
    stdio: "ignore",
    detached: true,
  });
  opened.on("error", () => {});
  opened.unref();
}
