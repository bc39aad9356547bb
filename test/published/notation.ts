/**
 * The notation of the descriptions in the folders beside this file. It is close to TypeScript's types:
 *
 *     Name { field: string, may_be_absent?: integer | null }   an object; other fields are allowed
 *     Name = exactly { type: "a" }                             an object without other fields
 *     Name = { [string]: number }                              a map
 *     Name = "a" | Other | [Other]                             alternatives: a word, a name, a list
 *     Name = Other & { more: boolean }                         the fields of both; a later one replaces an earlier one
 *     copy A, B as Beta                                        defines BetaA, BetaB, and BetaX for each X they reach
 *     BetaA, BetaB &= { agent?: string }                       adds fields; to each member, if it has alternatives
 *     BetaC |= D | E                                           adds alternatives
 *
 * `any` allows every value, `never` none. A name that starts with a small letter is a short form of our own: it is
 * replaced by what it stands for. `#` starts a comment.
 */

export const WORDS = ["string", "number", "integer", "boolean", "null", "any", "never"] as const;

export type Word = (typeof WORDS)[number];

export interface Field {
  readonly name: string;
  readonly required: boolean;
  readonly type: Type;
}

export interface ObjectType {
  readonly kind: "object";
  readonly fields: readonly Field[];
  /** What other fields may hold; `never` where there are none. */
  readonly rest: Type;
}

export type Type =
  | { readonly kind: "word"; readonly word: Word }
  | { readonly kind: "literal"; readonly value: string }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "list"; readonly of: Type }
  | { readonly kind: "either" | "all"; readonly of: readonly Type[] }
  | ObjectType;

export type Statement =
  | { readonly kind: "define"; readonly name: string; readonly type: Type }
  | { readonly kind: "copy"; readonly names: readonly string[]; readonly prefix: string }
  /** `|=` is `either`, `&=` is `all`. */
  | { readonly kind: "either" | "all"; readonly names: readonly string[]; readonly type: Type };

/** Throws with the line of what cannot be read, and the file it is in. */
export function parseNotation(text: string, file: string): Statement[] {
  const tokens = toTokens(text, file);
  const statements: Statement[] = [];
  while (tokens.peek() !== "") statements.push(parseStatement(tokens));
  return statements;
}

const TOKEN = /\s+|#[^\n]*|"[^"\n]*"|\w+|\|=|&=|[{}[\](),:?|&=]/y;

interface Tokens {
  /** The next token, and the one after it; empty at the end. */
  readonly peek: (ahead?: number) => string;
  readonly take: () => string;
  /** Takes the next token if it is this one. */
  readonly skip: (token: string) => boolean;
  readonly expect: (token: string) => void;
  readonly fail: (expected: string) => never;
}

function toTokens(text: string, file: string): Tokens {
  const found: { token: string; line: number }[] = [];
  let line = 1;
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined) throw new Error(`${file}:${line}: \`${text[at]}\` is not known.`);
    if (!/^[\s#]/.test(token)) found.push({ token, line });
    line += token.split("\n").length - 1;
  }
  let next = 0;
  const peek = (ahead = 0): string => found[next + ahead]?.token ?? "";
  const fail = (expected: string): never => {
    const at = `${file}:${found[next]?.line ?? line}`;
    throw new Error(`${at}: expected ${expected}, not \`${peek()}\`.`);
  };
  const skip = (token: string): boolean => {
    if (peek() !== token) return false;
    next++;
    return true;
  };
  const expect = (token: string): void => {
    if (!skip(token)) fail(`\`${token}\``);
  };
  const take = (): string => found[next++]?.token ?? "";
  return { peek, take, skip, expect, fail };
}

function parseStatement(tokens: Tokens): Statement {
  if (tokens.peek() === "copy" && isName(tokens.peek(1))) {
    tokens.take();
    const names = parseNames(tokens);
    tokens.expect("as");
    return { kind: "copy", names, prefix: takeName(tokens) };
  }
  const names = parseNames(tokens);
  if (tokens.skip("|=")) return { kind: "either", names, type: parseType(tokens) };
  if (tokens.skip("&=")) return { kind: "all", names, type: parseType(tokens) };
  const [name = "", ...others] = names;
  if (others.length > 0) tokens.fail("`|=` or `&=`");
  if (tokens.peek() !== "{") tokens.expect("=");
  return { kind: "define", name, type: parseType(tokens) };
}

function parseNames(tokens: Tokens): string[] {
  const names = [takeName(tokens)];
  while (tokens.skip(",")) names.push(takeName(tokens));
  return names;
}

function takeName(tokens: Tokens): string {
  return isName(tokens.peek()) ? tokens.take() : tokens.fail("a name");
}

function isName(token: string): boolean {
  return /^[a-z]\w*$/i.test(token) && !isWord(token);
}

function isWord(token: string): token is Word {
  return (WORDS as readonly string[]).includes(token);
}

/** `&` binds more tightly than `|`. */
function parseType(tokens: Tokens): Type {
  return parseRow(tokens, "either", () => parseRow(tokens, "all", () => parseOne(tokens)));
}

function parseRow(tokens: Tokens, kind: "either" | "all", parse: () => Type): Type {
  const first = parse();
  const of = [first];
  while (tokens.skip(kind === "either" ? "|" : "&")) of.push(parse());
  return of.length === 1 ? first : { kind, of };
}

function parseOne(tokens: Tokens): Type {
  if (tokens.peek() === "{") return parseObject(tokens, { kind: "word", word: "any" });
  if (tokens.peek() === "exactly" && tokens.peek(1) === "{") {
    tokens.take();
    return parseObject(tokens, { kind: "word", word: "never" });
  }
  if (tokens.skip("[")) return { kind: "list", of: parseUntil(tokens, "]") };
  if (tokens.skip("(")) return parseUntil(tokens, ")");
  const token = tokens.peek();
  if (token.startsWith('"')) return { kind: "literal", value: tokens.take().slice(1, -1) };
  if (!isWord(token)) return { kind: "name", name: takeName(tokens) };
  tokens.take();
  return { kind: "word", word: token };
}

function parseUntil(tokens: Tokens, end: string): Type {
  const type = parseType(tokens);
  tokens.expect(end);
  return type;
}

function parseObject(tokens: Tokens, others: Type): ObjectType {
  const fields: Field[] = [];
  let rest = others;
  tokens.expect("{");
  while (!tokens.skip("}")) {
    if (tokens.skip("[")) {
      for (const token of ["string", "]", ":"]) tokens.expect(token);
      rest = parseType(tokens);
    } else {
      fields.push(parseField(tokens));
    }
    if (tokens.peek() !== "}") tokens.expect(",");
  }
  return { kind: "object", fields, rest };
}

function parseField(tokens: Tokens): Field {
  if (!/^\w+$/.test(tokens.peek())) tokens.fail("a field");
  const name = tokens.take();
  const required = !tokens.skip("?");
  tokens.expect(":");
  return { name, required, type: parseType(tokens) };
}
