/** Certificate authorities that are trusted in addition to those of the runtime. */

import { readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import { Failure } from "../../base/failure.ts";

/** Variables that name a bundle. The first one that is set replaces the system's. */
const BUNDLE_VARIABLES = ["SSL_CERT_FILE", "CURL_CA_BUNDLE"] as const;

const EXTRA_VARIABLE = "NODE_EXTRA_CA_CERTS";

/** The bundles of distributions: Debian, Fedora, macOS and Alpine, Arch. */
export const SYSTEM_BUNDLES: readonly string[] = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/cert.pem",
  "/etc/ca-certificates/extracted/tls-ca-bundle.pem",
];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The authorities in the file that a variable names, with the runtime's own; undefined if no variable is
 * set. The runtime reads `NODE_EXTRA_CA_CERTS` only if it gets no list, so it is added here.
 */
export function readTrustedBundle(env: Environment): readonly string[] | undefined {
  const variable = BUNDLE_VARIABLES.find((name) => env[name]);
  if (!variable) return undefined;
  const named = [EXTRA_VARIABLE, variable].filter((name) => env[name]);
  return [...rootCertificates, ...named.map((name) => readNamed(name, env[name] ?? ""))];
}

/** The distribution's bundle with the runtime's own; undefined if the file does not exist. */
export function readSystemBundle(files: readonly string[]): readonly string[] | undefined {
  for (const file of files) {
    try {
      return [...rootCertificates, readFileSync(file, "utf8")];
    } catch {
      // This distribution keeps its bundle elsewhere.
    }
  }
  return undefined;
}

function readNamed(variable: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const message = `${variable} names the CA bundle \`${file}\`, which cannot be read.`;
    throw new Failure("invalid_request", message, { cause });
  }
}
