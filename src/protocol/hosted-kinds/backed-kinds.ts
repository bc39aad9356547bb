/**
 * The kinds of hosted tools whose calls the settings may send to a tool of an MCP server. In a file of its own: it is
 * read with the settings, before each run, and the facts of the kinds need the schema library.
 */
export const BACKED_KINDS: readonly string[] = [
  ...["web_search", "file_search", "code_interpreter", "image_generation"],
  ...["shell", "local_shell", "apply_patch", "computer"],
];
