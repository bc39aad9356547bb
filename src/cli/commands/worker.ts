/** `offshoot worker`: works on what servers have queued in their record, without HTTP. */

import { runWithoutPort } from "../../server/running/run-server.ts";
import type { RunCommand } from "../command.ts";
import { load, toServerProcess } from "./serve.ts";

export const run: RunCommand = async ({ options }, io) =>
  await runWithoutPort(() => load(options, io), toServerProcess(io));
