/** A web request with its limits, and its answer. */

export interface WebCall {
  readonly signal: AbortSignal;
  /** True if the run's grant and rules allow this host. Called for every hop. */
  readonly allowsHost: (host: string) => boolean;
}

export interface GetOptions extends WebCall {
  readonly accept?: string;
  /** Sent to the first origin only. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiRequest extends WebCall {
  readonly url: string;
  readonly method: "GET" | "POST";
  /** With lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Private hosts that are allowed in addition to the client's: an address that the user configured. */
  readonly privateHosts?: readonly string[];
}

export interface WebAnswer {
  /** The address after the last redirect. */
  readonly url: string;
  readonly status: number;
  /** With lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The content type as the server wrote it; empty if it sent none. */
  readonly contentType: string;
  /** Decompressed. */
  readonly body: Buffer;
  /** True if a limit ended the body before its end. */
  readonly isCut: boolean;
}

export type Dial = (address: string, port: number) => { host: string; port: number };

export interface WebLimits {
  readonly wireBytes: number;
  readonly plainBytes: number;
  readonly headerBytes: number;
  readonly connectMs: number;
  /** The total time of one `get` or `request`, with its redirects. */
  readonly totalMs: number;
  readonly redirects: number;
  readonly perMinute: number;
}
