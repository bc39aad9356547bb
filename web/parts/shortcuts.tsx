/** Every key that does something, in one place. */

import type { View } from "../views.ts";
import { Dialog } from "./dialog.tsx";

const KEYS: readonly (readonly [string, string])[] = [
  ["Ctrl K", "Go to a view, an action or a run"],
  ["/", "To the search field"],
  ["?", "This list"],
  ["↑ ↓ or j k", "Move in a list or a tree"],
  ["Enter", "Open the selected row"],
  ["← →", "Fold and unfold in a tree"],
  ["z", "Zoom the timeline to a node of the tree, and back"],
  ["Ctrl Enter", "Send the prompt in the playground"],
  ["Esc", "Leave a dialog or a menu"],
];

export function ShortcutsDialog({
  views,
  onClose,
}: {
  readonly views: readonly View[];
  readonly onClose: () => void;
}) {
  const rows = [...KEYS, ...views.map(({ key, title }) => [`g ${key}`, title] as const)];
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <table>
        <tbody>
          {rows.map(([keys, what]) => (
            <tr key={keys}>
              <th scope="row">
                <kbd>{keys}</kbd>
              </th>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}
