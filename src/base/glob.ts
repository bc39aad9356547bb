/** Globs, for names and paths: `*` and `?` stop at a slash, `**` does not, `{a,b}` is either. */

export function matchesGlob(text: string, glob: string): boolean {
  return toGlobPattern(glob).test(text);
}

export function toGlobPattern(glob: string): RegExp {
  return new RegExp(`^${toSource(glob)}$`);
}

/** One pass, so that what a token becomes is not read as a token again. */
function toSource(glob: string): string {
  const tokens = /\*\*\/|\*\*|\*|\?|\{([^{}]*)\}|[.+^$()|[\]\\{}]/g;
  return glob.replace(tokens, (token, list?: string) => {
    if (list !== undefined) return `(?:${list.split(",").map(toSource).join("|")})`;
    return WILDCARDS[token] ?? `\\${token}`;
  });
}

const WILDCARDS: Readonly<Record<string, string>> = {
  "**/": "(?:.*/)?",
  "**": ".*",
  "*": "[^/]*",
  "?": "[^/]",
};
