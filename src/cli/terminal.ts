/**
 * Text from a model or a tool, made safe to show on a terminal: no escape sequence, control
 * character or direction override of theirs reaches it. Only for terminals: files and pipes get
 * what was said.
 */

/** OSC, DCS, APC, PM and SOS up to their end; CSI; then any other escape. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be removed
const SEQUENCES = /\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\[[0-?]*[ -/]*[@-~]?|\x1b./gs;

/** C0 but for tab and line feed, DEL, C1, and the marks that turn the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be removed
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

export function cleanForTerminal(text: string): string {
  return text.replace(SEQUENCES, "").replace(CONTROLS, "");
}
