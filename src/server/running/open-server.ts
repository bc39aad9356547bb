/** A listening server: the app behind a socket. */

import { type AppParts, createApp } from "../app.ts";
import { type Listener, type ListenOptions, openListener } from "./listener.ts";

export interface ServerOptions extends AppParts, ListenOptions {}

export type OpenedServer = Listener;

export async function openServer(options: ServerOptions): Promise<OpenedServer> {
  return await openListener(options, createApp(options));
}
