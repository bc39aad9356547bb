/**
 * Who is signed in. The token goes in a header and is kept for this tab alone: a cookie would be sent to
 * every other port of this machine, too. It comes from a one-time code in the fragment (`offshoot ui`),
 * or from a key that was pasted; neither is left in the address.
 */

import { computed, signal } from "@preact/signals";
import { BASE } from "./address.ts";

const KEPT_AS = "offshoot-console-token";

export interface Session {
  /** Empty for a server that asks for no key: it lets such a page read and nothing else. */
  readonly token: string;
  readonly scopes: readonly string[];
  readonly tenant: string | undefined;
}

export const session = signal<Session | undefined>(readKept());
/** Whether a view has been on the page: it stays there, below the form, when the session ends. */
export const wasSignedIn = signal(session.peek() !== undefined);
/** A server that asks for no key lets nobody change anything. */
export const canChange = computed(() => Boolean(session.value?.token));
/** Why the page asks to sign in, where it was not the first thing that it did. */
export const signInReason = signal("");

/** The API is beside the console, whatever the path prefix. */
export const API = `${BASE.slice(0, -"console/".length)}v1/`;

/** Exchanges the code in the fragment, once, and removes it from the address before anything is sent. */
export async function signInByFragment(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null) return;
  history.replaceState(null, "", location.pathname + location.search);
  await signIn({ code });
}

/** Rejects nothing: what is wrong is the reason that the sign-in form shows. */
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

/** Back to the form, because the server takes the token no more. What is typed stays: the form lies over it. */
export function askAgain(reason: string): void {
  signInReason.value = reason;
  forget();
}

/** Ends the session at the server, and takes what it showed off the page. */
export function signOut(): void {
  const token = session.peek()?.token;
  // Whether it was reached or not: the token is gone from here, and expires there.
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
