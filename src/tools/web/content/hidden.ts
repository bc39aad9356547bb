/**
 * Finds elements that a reader does not see, which often contain text meant only for a model.
 *
 * Only an element's own attributes are checked. What a style sheet or a script hides, and text in its
 * background's colour, is not found. Transparent elements are kept, because many sites fade their whole
 * content in.
 */

/** Tests of a `style` attribute in lower case and without spaces. */
const HIDING: readonly RegExp[] = [
  /(?:^|;)display:none/,
  /(?:^|;)visibility:(?:hidden|collapse)/,
  /(?:^|;)content-visibility:hidden/,
  // Letters of a pixel or less cannot be read.
  /(?:^|;)font-size:(?:0(?:\.0+)?(?:[a-z]+|%)?|(?:0?\.\d+|1)(?:px|pt))(?:;|!|$)/,
  /(?:^|;)(?:left|top|right|bottom|text-indent|margin-left|margin-top):-\d{3,}/,
  /(?:^|;)(?:clip:rect\((?:0|1px)|clip-path:inset\((?:50|100)%)/,
  /(?:^|;)transform:scale[xy]?\(0(?:\.0+)?\)/,
  /(?:^|;)color:(?:transparent|rgba\([\d.]+,[\d.]+,[\d.]+,0(?:\.0+)?\))/,
];

const NO_ROOM = /(?:^|;)(?:max-)?(?:width|height):[01](?:px|em|rem|%)?(?:;|!|$)/;

export function isHiddenStyle(style: string): boolean {
  const plain = withoutComments(style.toLowerCase()).replace(/\s+/g, "");
  if (HIDING.some((test) => test.test(plain))) return true;
  return plain.includes("overflow:hidden") && NO_ROOM.test(plain);
}

/** A comment that is not closed extends to the end. */
function withoutComments(style: string): string {
  const [before = "", ...comments] = style.split("/*");
  const after = comments.map((comment) => comment.split("*/").slice(1).join("*/"));
  return [before, ...after].join("");
}

interface Attributes {
  getAttribute(name: string): string | null;
}

export function isHiddenElement(element: Attributes): boolean {
  const hidden = element.getAttribute("hidden");
  if (hidden !== null && hidden.toLowerCase() !== "until-found") return true;
  if (element.getAttribute("aria-hidden")?.trim().toLowerCase() === "true") return true;
  const style = element.getAttribute("style");
  return style !== null && isHiddenStyle(style);
}

/** True if a tag that is still text hides its content. */
export function isHiddenTag(tag: string): boolean {
  if (!/hidden|style/i.test(tag)) return false;
  return isHiddenElement({
    getAttribute(name) {
      const pattern = `[\\s"']${name}(?:\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+)))?(?=[\\s/>])`;
      const found = new RegExp(pattern, "i").exec(tag);
      return found ? (found[1] ?? found[2] ?? found[3] ?? "") : null;
    },
  });
}
