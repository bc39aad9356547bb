/** A listening server: the app with a socket. */

import { type AppParts, createApp } from "../app.ts";
import { type ListenOptions, openListener, type PortListener } from "./listener.ts";

export interface ServerOptions extends AppParts, ListenOptions {}

export type OpenedServer = PortListener;

export async function openServer(options: ServerOptions): Promise<OpenedServer> {
  return await openListener(options, createApp(options));
}
