/** The keys that edit text, the same for every field of a chat. */

import type { Editor, Motion } from "./editor/editor.ts";

const MOVES: Readonly<Record<string, Motion>> = {
  left: "left",
  right: "right",
  "ctrl-b": "left",
  "ctrl-f": "right",
  "alt-b": "word-left",
  "alt-f": "word-right",
  "alt-left": "word-left",
  "alt-right": "word-right",
  "ctrl-left": "word-left",
  "ctrl-right": "word-right",
  home: "line-start",
  end: "line-end",
  "ctrl-a": "line-start",
  "ctrl-e": "line-end",
  "ctrl-home": "start",
  "ctrl-end": "end",
};

const DELETES: Readonly<Record<string, Motion>> = {
  backspace: "left",
  "shift-backspace": "left",
  "ctrl-h": "left",
  delete: "right",
};

const KILLS: Readonly<Record<string, Motion>> = {
  "ctrl-k": "line-end",
  "ctrl-u": "line-start",
  "ctrl-w": "word-left",
  "alt-backspace": "word-left",
  "ctrl-backspace": "word-left",
  "alt-d": "word-right",
  "ctrl-delete": "word-right",
};

const DEEDS: Readonly<Record<string, (editor: Editor) => void>> = {
  "ctrl-y": (editor) => editor.yank(),
  "alt-y": (editor) => editor.yankPop(),
  "ctrl-_": (editor) => editor.undo(),
  "alt-_": (editor) => editor.redo(),
  "ctrl-j": (editor) => editor.type("\n"),
  "alt-enter": (editor) => editor.type("\n"),
  "shift-enter": (editor) => editor.type("\n"),
  "ctrl-o": (editor) => void editor.unfoldOne(),
};

/** Returns true if the key means something here. */
export function applyKey(editor: Editor, chord: string): boolean {
  const move = MOVES[chord];
  const drop = DELETES[chord];
  const kill = KILLS[chord];
  const deed = DEEDS[chord];
  if (move) editor.move(move);
  else if (drop) editor.delete(drop);
  else if (kill) editor.kill(kill);
  else if (deed) deed(editor);
  else return false;
  return true;
}
