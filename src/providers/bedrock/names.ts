/**
 * The names that one request uses for calls and documents. Converse accepts fewer characters in them than
 * other vendors do, and each name once. A name that does not fit is replaced, the same way in the whole
 * request.
 */

const CALL_ID = /^[a-zA-Z0-9_-]{1,64}$/;
const MAX_DOCUMENT_NAME = 100;

export interface ConverseNames {
  /** The id of a call in the form of Converse. Equal ids give equal results. */
  callId(id: string): string;
  /** A name for a document that no other document of the request has. */
  documentName(filename: string | null | undefined): string;
}

export function createNames(): ConverseNames {
  const callIds = new Map<string, string>();
  const taken = new Set<string>();
  const take = (wanted: string, again: (count: number) => string): string => {
    let name = wanted;
    for (let count = 2; taken.has(name); count++) name = again(count);
    taken.add(name);
    return name;
  };

  return {
    callId(id) {
      const known = callIds.get(id);
      if (known !== undefined) return known;
      const wanted = CALL_ID.test(id) ? id : id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 56);
      const name = take(wanted || "call", (count) => `${wanted || "call"}_${count}`);
      callIds.set(id, name);
      return name;
    },
    documentName(filename) {
      const wanted = toDocumentName(filename ?? "") || "document";
      return take(wanted, (count) => `${wanted} (${count})`);
    },
  };
}

/** Letters, digits, single spaces, hyphens and brackets; a dot is refused, so the ending goes. */
function toDocumentName(filename: string): string {
  const base = filename.split(/[\\/]/).at(-1) ?? "";
  const plain = base.replace(/\.[a-z0-9]+$/i, "").replace(/[^a-zA-Z0-9()[\] -]+/g, "-");
  return plain.replace(/ +/g, " ").trim().slice(0, MAX_DOCUMENT_NAME);
}
