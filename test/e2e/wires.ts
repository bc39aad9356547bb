/** The command's wires, each with the scripted server of its kind. */

import {
  type Faults,
  type Script,
  type ScriptEngine,
  startChatUpstream,
  startResponsesUpstream,
  type Upstream,
} from "../../src/testing/index.ts";

export interface WireCase {
  readonly name: string;
  /** Its name in `--provider`. */
  readonly provider: string;
  start(options?: UpstreamSetup): Promise<Upstream>;
}

/** `engine` is the embedded model if missing. */
export interface UpstreamSetup {
  readonly engine?: ScriptEngine | Script;
  readonly key?: string;
  readonly faults?: Faults;
}

export const CHAT: WireCase = {
  name: "chat",
  provider: "openai-chat",
  start: (options = {}) => startChatUpstream(options),
};

export const RESPONSES: WireCase = {
  name: "responses, strict",
  provider: "openai-responses",
  start: (options = {}) => startResponsesUpstream(options),
};

export const LEGACY: WireCase = {
  name: "responses, legacy",
  provider: "openai-responses",
  start: (options = {}) => startResponsesUpstream({ ...options, personality: "legacy" }),
};

export const WIRES: readonly WireCase[] = [CHAT, RESPONSES, LEGACY];

/** `offshoot run` against the user's own server. */
export function runAt({ url }: Upstream, { provider }: WireCase, ...rest: string[]): string[] {
  return ["run", "-m", "test-model", "--url", url, "--provider", provider, ...rest];
}
