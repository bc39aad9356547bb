/**
 * Addresses that a vendor reads itself and that we cannot fetch for it: files in its own cloud, which it
 * reads with the caller's rights, and videos that only its own service has.
 */

const YOUTUBE =
  /^https:\/\/(?:(?:www\.|m\.)?youtube\.com\/(?:watch\?|shorts\/|live\/|embed\/)|youtu\.be\/)/i;

const READ_BY: Readonly<Record<string, (url: string) => boolean>> = {
  gemini: (url) => url.startsWith("gs://") || isYouTube(url),
  "vertexai-gemini": (url) => url.startsWith("gs://") || isYouTube(url),
  bedrock: (url) => url.startsWith("s3://"),
};

/** True if the API of this wire reads what is at the address. */
export function readsAddress(wire: string, url: string): boolean {
  return READ_BY[wire]?.(url) ?? false;
}

/** True for a YouTube address: a web page for everyone else, the video itself for Google's models. */
export function isYouTube(url: string): boolean {
  return YOUTUBE.test(url);
}
