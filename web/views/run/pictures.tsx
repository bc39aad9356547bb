/** Pictures that are inside of an item, each after a click: nothing of a model's is drawn by itself. */

import { Picture } from "../../parts/markdown.tsx";

export function Pictures({ urls }: { readonly urls: readonly string[] }) {
  return (
    <>
      {urls.map((url, at) => (
        <p key={at}>
          <Picture href={url} text={`picture ${at + 1}`} />
        </p>
      ))}
    </>
  );
}
