/**
 * A sentence of the program as it is written for terminals and pages: names in backticks, links to the docs. Not for
 * the words of a model, of which nothing may be left out.
 */

const LINK = /\s*\(\[[^\]]*\]\([^)]*\)\)|\[([^\]]*)\]\([^)]*\)/g;

/** Shows names as code, and leaves out links to pages that the console does not have. */
export function Prose({ text }: { readonly text: string }) {
  const pieces = text.replace(LINK, "$1").split("`");
  // Each second piece is between two backticks; one without its partner is text.
  const isPaired = pieces.length % 2 === 1;
  if (!isPaired) return <>{text}</>;
  return <>{pieces.map((piece, at) => (at % 2 === 1 ? <code key={at}>{piece}</code> : piece))}</>;
}
