/**
 * The session of the page. The token is sent in a header and kept only in this tab: a cookie would also be sent to
 * every other port of this machine. It comes from a one-time code in the fragment (`offshoot ui`), or from a pasted
 * key; neither stays in the address.
 */

import { computed, signal } from "@preact/signals";
import { BASE } from "./address.ts";

const KEPT_AS = "offshoot-console-token";

export interface Session {
  /** Empty for a server that asks for no key: it lets such a page only read. */
  readonly token: string;
  readonly scopes: readonly string[];
  readonly tenant: string | undefined;
}

export const session = signal<Session | undefined>(readKept());
/** True once a view was on the page: it stays there, below the form, when the session ends. */
export const wasSignedIn = signal(session.peek() !== undefined);
/** A server that asks for no key allows no changes. */
export const canChange = computed(() => Boolean(session.value?.token));
/** The reason why the page asks to sign in; empty at the start. */
export const signInReason = signal("");

/** The API's address beside the console, with any path prefix. */
export const API = `${BASE.slice(0, -"console/".length)}v1/`;

/**
 * Exchanges the code in the fragment, once, and removes it from the address before anything is sent.
 */
export async function signInByFragment(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null) return;
  history.replaceState(null, "", location.pathname + location.search);
  await signIn({ code });
}

/** Never rejects: a failure becomes the reason in the sign-in form. */
export async function signIn(proof: { code: string } | { key: string }): Promise<void> {
  try {
    const response = await fetch(`${API}console/sessions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(proof),
    });
    const body = (await response.json()) as SessionAnswer;
    if (!response.ok) {
      signInReason.value = body.error?.message ?? `The server answered ${response.status}.`;
      return;
    }
    keep({ token: body.token ?? "", scopes: body.scopes ?? [], tenant: body.tenant });
  } catch {
    signInReason.value = "The server does not answer. Is it still running?";
  }
}

interface SessionAnswer {
  readonly token?: string | null;
  readonly scopes?: readonly string[];
  readonly tenant?: string;
  readonly error?: { readonly message?: string };
}

/**
 * Shows the form, because the server no longer accepts the token. Typed text stays: the form covers the page.
 */
export function askAgain(reason: string): void {
  signInReason.value = reason;
  forget();
}

/** Ends the session at the server, and removes its data from the page. */
export function signOut(): void {
  const token = session.peek()?.token;
  // If the server is not reached, the token is still removed here, and expires there.
  if (token) {
    const headers = { authorization: `Bearer ${token}` };
    void fetch(`${API}console/session`, { method: "DELETE", headers }).catch(() => {});
  }
  signInReason.value = "";
  wasSignedIn.value = false;
  forget();
}

function forget(): void {
  sessionStorage.removeItem(KEPT_AS);
  session.value = undefined;
}

export function mayDo(scope: string): boolean {
  return session.value?.scopes.includes(scope) ?? false;
}

function keep(next: Session): void {
  sessionStorage.setItem(KEPT_AS, JSON.stringify(next));
  signInReason.value = "";
  wasSignedIn.value = true;
  session.value = next;
}

function readKept(): Session | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT_AS) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}
