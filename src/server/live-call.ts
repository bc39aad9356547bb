/** Streams that last for hours end when the key of their reader is revoked or expires. */

import type { EventsAnswer, RouteCall, StreamEvent } from "./route.ts";
import { PRIVATE_HEADERS } from "./routes/viewer.ts";

/** Each value is a frame. `open` receives the signal that ends the stream. */
export async function streamLive(
  call: RouteCall,
  open: (signal: AbortSignal) => Promise<AsyncGenerator<object>> | AsyncGenerator<object>,
): Promise<EventsAnswer> {
  const refused = new AbortController();
  const frames = await open(AbortSignal.any([call.signal, refused.signal]));
  return { kind: "events", events: toFrames(frames, call, refused), headers: PRIVATE_HEADERS };
}

async function* toFrames(
  frames: AsyncGenerator<object>,
  { untilRefused }: RouteCall,
  refused: AbortController,
): AsyncGenerator<readonly StreamEvent[]> {
  const ended = new AbortController();
  void untilRefused(ended.signal).then((why) => why && refused.abort(why));
  try {
    for await (const frame of frames) yield [{ frame: JSON.stringify(frame) }];
    // The stream did not end by itself: the client asks again, and is then told why it is refused.
    if (refused.signal.aborted) throw refused.signal.reason;
  } finally {
    ended.abort();
  }
}
