/**
 * Exact arithmetic on expressions in text: `2**64 % 97`, `(1 + 2) * 3.5`, `-2^3`.
 *
 * Every number is a fraction of two bigints, so `0.1 + 0.2` is `0.3` and large integers keep all their
 * digits. Only a fractional exponent is calculated in doubles. Precedence and signs are those of
 * mathematics and Python: `**` binds to the right and tighter than a minus before it, and `%` takes the
 * sign of the divisor.
 */

import { Failure } from "../../base/failure.ts";

/** The most digits of a result. More would take seconds, and would be too long to read. */
const MAX_DIGITS = 20_000;
const SIGNIFICANT_DIGITS = 16;

/** The result as text, or `undefined` if `text` is not an expression. Throws a `Failure` for `1/0`. */
export function calculate(text: string): string | undefined {
  const tokens = toTokens(text);
  if (!tokens) return undefined;
  const node = parseTokens(tokens);
  return node && writeFraction(evaluate(node));
}

/** True if the text is an expression with something to calculate. */
export function isExpression(text: string): boolean {
  const tokens = toTokens(text);
  return tokens !== undefined && tokens.length > 1 && parseTokens(tokens) !== undefined;
}

/** The denominator is positive and the two have no common divisor. */
interface Fraction {
  readonly top: bigint;
  readonly bottom: bigint;
}

type Operator = "+" | "-" | "*" | "/" | "%" | "**";

type Node =
  | { readonly type: "number"; readonly value: Fraction }
  | { readonly type: "negate"; readonly of: Node }
  | {
      readonly type: "binary";
      readonly operator: Operator;
      readonly left: Node;
      readonly right: Node;
    };

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/(\d(?:[\d.]*\d)?)\s*(?:%|percent)\s+of\s+/gi, "$1/100*"],
  [/\bto\s+the\s+power\s+(?:of\s+)?|\braised\s+to\s+/gi, "**"],
  [/\bdivided\s+by\b|\bover\b|÷/gi, "/"],
  [/\bmultiplied\s+by\b|\btimes\b|×|·/gi, "*"],
  [/\bplus\b/gi, "+"],
  [/\bminus\b|−|–/gi, "-"],
  [/\bmodulo\b|\bmod\b/gi, "%"],
  [/\bsquared\b/gi, "**2"],
  [/\bcubed\b/gi, "**3"],
  [/\^/g, "**"],
  // Separators of thousands: 1,000,000.
  [/(?<=\d),(?=\d{3}(?!\d))/g, ""],
];

const TOKEN = /\s*(\d+(?:\.\d+)?(?:e[+-]?\d{1,4})?|\.\d+|\*\*|[-+*/%()])/iy;

function toTokens(text: string): string[] | undefined {
  let plain = text.trim();
  for (const [word, sign] of WORDS) plain = plain.replace(word, sign);
  const tokens: string[] = [];
  let end = 0;
  while (end < plain.length) {
    TOKEN.lastIndex = end;
    const token = TOKEN.exec(plain)?.[1];
    if (token === undefined) return undefined;
    tokens.push(token);
    end = TOKEN.lastIndex;
  }
  return tokens.length > 0 ? tokens : undefined;
}

/** Recursive descent, one function a level; `undefined` anywhere means "no expression". */
/** The most brackets inside each other. */
const MAX_DEPTH = 100;

function parseTokens(tokens: readonly string[]): Node | undefined {
  let at = 0;
  let depth = 0;
  const whole = sum();
  return at === tokens.length ? whole : undefined;

  function sum(): Node | undefined {
    return leftToRight(["+", "-"], product);
  }

  function product(): Node | undefined {
    return leftToRight(["*", "/", "%"], signed);
  }

  function leftToRight(
    operators: readonly Operator[],
    operand: () => Node | undefined,
  ): Node | undefined {
    let left = operand();
    for (let operator = take(operators); left && operator; operator = take(operators)) {
      const right = operand();
      left = right && { type: "binary", operator, left, right };
    }
    return left;
  }

  function signed(): Node | undefined {
    if (take(["+"])) return signed();
    if (!take(["-"])) return power();
    const of = signed();
    return of && { type: "negate", of };
  }

  function power(): Node | undefined {
    const left = operand();
    if (!left || !take(["**"])) return left;
    // The exponent is a signed power again: 2**-1, and 2**3**2 is 2**(3**2).
    const right = signed();
    return right && { type: "binary", operator: "**", left, right };
  }

  function operand(): Node | undefined {
    const token = tokens[at];
    if (token === undefined) return undefined;
    at++;
    if (token !== "(")
      return /\d/.test(token) ? { type: "number", value: toFraction(token) } : undefined;
    // Each bracket is a recursive call. More than a person would write could overflow the stack.
    if (++depth > MAX_DEPTH) return undefined;
    const inner = sum();
    depth--;
    return tokens[at++] === ")" ? inner : undefined;
  }

  function take(operators: readonly Operator[]): Operator | undefined {
    const found = operators.find((operator) => operator === tokens[at]);
    if (found) at++;
    return found;
  }
}

function evaluate(node: Node): Fraction {
  if (node.type === "number") return node.value;
  if (node.type === "negate") {
    const { top, bottom } = evaluate(node.of);
    return { top: -top, bottom };
  }
  return apply(node.operator, evaluate(node.left), evaluate(node.right));
}

function apply(operator: Operator, a: Fraction, b: Fraction): Fraction {
  switch (operator) {
    case "+":
      return reduce(a.top * b.bottom + b.top * a.bottom, a.bottom * b.bottom);
    case "-":
      return reduce(a.top * b.bottom - b.top * a.bottom, a.bottom * b.bottom);
    case "*":
      return reduce(a.top * b.top, a.bottom * b.bottom);
    case "/":
      return reduce(a.top * b.bottom, a.bottom * nonZero(b.top));
    case "%":
      return modulo(a, b);
    case "**":
      return raise(a, b);
  }
}

function modulo(a: Fraction, b: Fraction): Fraction {
  const divisor = nonZero(b.top) * a.bottom;
  const rest = (a.top * b.bottom) % divisor;
  const sameSign = rest === 0n || rest < 0n === divisor < 0n;
  return reduce(sameSign ? rest : rest + divisor, a.bottom * b.bottom);
}

function raise(base: Fraction, exponent: Fraction): Fraction {
  if (exponent.bottom !== 1n) return raiseInDoubles(base, exponent);
  const size = exponent.top < 0n ? -exponent.top : exponent.top;
  const digits = Math.max(digitsOf(base.top), digitsOf(base.bottom));
  // 0, 1 and -1 stay small with every exponent.
  const grows = base.top > 1n || base.top < -1n || base.bottom > 1n;
  if (grows) refuseOver(BigInt(digits) * size);
  const top = base.top ** size;
  const bottom = base.bottom ** size;
  return exponent.top < 0n ? reduce(bottom, nonZero(top)) : reduce(top, bottom);
}

function raiseInDoubles(base: Fraction, exponent: Fraction): Fraction {
  const result = toNumber(base) ** toNumber(exponent);
  if (!Number.isFinite(result)) {
    throw new Failure("invalid_request", "That power is not a real number, or it is too large.");
  }
  return toFraction(String(result));
}

function toNumber(value: Fraction): number {
  return Number(writeFraction(value));
}

function refuseOver(digits: bigint): void {
  if (digits <= MAX_DIGITS) return;
  const message = `The result would have more than ${MAX_DIGITS} digits; use a smaller exponent.`;
  throw new Failure("invalid_request", message);
}

function nonZero(value: bigint): bigint {
  if (value !== 0n) return value;
  throw new Failure("invalid_request", "A division by zero has no result.");
}

function digitsOf(value: bigint): number {
  return value.toString().replace("-", "").length;
}

/** Reads `12`, `0.5`, `.5`, `1e21`, `-2.5e-7`: the forms that people type and that `String(number)` gives. */
function toFraction(text: string): Fraction {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", decimals = ""] = mantissa.split(".");
  const shift = Number(exponent) - decimals.length;
  const digits = BigInt(`${whole}${decimals}`);
  return shift < 0
    ? reduce(digits, 10n ** BigInt(-shift))
    : reduce(digits * 10n ** BigInt(shift), 1n);
}

function reduce(top: bigint, bottom: bigint): Fraction {
  const sign = bottom < 0n ? -1n : 1n;
  let a = top < 0n ? -top : top;
  let b = bottom * sign;
  while (b !== 0n) [a, b] = [b, a % b];
  return { top: (top * sign) / a, bottom: (bottom * sign) / a };
}

/** Writes integers and finite decimals in full, and others with 16 significant digits. */
function writeFraction({ top, bottom }: Fraction): string {
  const sign = top < 0n ? "-" : "";
  const size = top < 0n ? -top : top;
  if (bottom === 1n) return `${sign}${size}`;
  const whole = size / bottom;
  const exact = decimalPlaces(bottom);
  const leadingZeros = whole > 0n ? 0 : countLeadingZeros(size, bottom);
  const wanted =
    leadingZeros + Math.max(1, SIGNIFICANT_DIGITS - (whole > 0n ? digitsOf(whole) : 0));
  const places = exact !== undefined && exact <= 60 ? exact : wanted;
  const scaled = (size * 10n ** BigInt(places) * 2n + bottom) / (bottom * 2n);
  const digits = scaled.toString().padStart(places + 1, "0");
  const decimals = digits.slice(-places).replace(/0+$/, "");
  return `${sign}${digits.slice(0, -places)}${decimals && `.${decimals}`}`;
}

/** Number of zeros after the point of a fraction below one. */
function countLeadingZeros(top: bigint, bottom: bigint): number {
  let zeros = Math.max(0, digitsOf(bottom) - digitsOf(top) - 1);
  while (top * 10n ** BigInt(zeros + 1) < bottom) zeros++;
  return zeros;
}

/** The number of decimals of the fraction, or `undefined` if they never end. */
function decimalPlaces(bottom: bigint): number | undefined {
  let rest = bottom;
  const twos = countOut(2n);
  const fives = countOut(5n);
  return rest === 1n ? Math.max(twos, fives) : undefined;

  function countOut(divisor: bigint): number {
    let count = 0;
    for (; rest % divisor === 0n; rest /= divisor) count++;
    return count;
  }
}
