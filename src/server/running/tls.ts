/** Reads the certificate of a server from its files and checks it before it is used. */

import { readFile } from "node:fs/promises";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { Failure } from "../../base/failure.ts";

export interface TlsFiles {
  /** The certificate with its chain. */
  readonly cert: string;
  readonly key: string;
  /** The authority that clients' certificates must come from; undefined if clients need none. */
  readonly clientCa: string | undefined;
}

export interface TlsOptions extends SecureContextOptions {
  readonly requestCert?: boolean;
  readonly rejectUnauthorized?: boolean;
}

/** Rejects with `invalid_request` files that cannot be read or do not belong together. */
export async function readTls({ cert, key, clientCa }: TlsFiles): Promise<TlsOptions> {
  const options: TlsOptions = {
    cert: await read(cert),
    key: await read(key),
    minVersion: "TLSv1.2",
    ...(clientCa === undefined ? {} : { ca: await read(clientCa), ...ASK_CLIENTS }),
  };
  try {
    createSecureContext(options);
    return options;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The certificate ${cert} and the key ${key} cannot be used: ${reason}.`;
    throw new Failure("invalid_request", message, { cause });
  }
}

const ASK_CLIENTS = { requestCert: true, rejectUnauthorized: true };

async function read(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new Failure("invalid_request", `${file}: It cannot be read (${code}).`, { cause });
  }
}
