/**
 * Addresses that a vendor reads itself and that nobody could fetch for it: files in its own cloud, which
 * it reads with the rights of whoever asks it, and videos that only its own service has.
 */

const YOUTUBE =
  /^https:\/\/(?:(?:www\.|m\.)?youtube\.com\/(?:watch\?|shorts\/|live\/|embed\/)|youtu\.be\/)/i;

const READ_BY: Readonly<Record<string, (url: string) => boolean>> = {
  gemini: (url) => url.startsWith("gs://") || isYouTube(url),
  "vertexai-gemini": (url) => url.startsWith("gs://") || isYouTube(url),
  bedrock: (url) => url.startsWith("s3://"),
};

/** Whether the API of this wire reads what is at the address. */
export function readsAddress(wire: string, url: string): boolean {
  return READ_BY[wire]?.(url) ?? false;
}

/** A page to everyone else; to Google's models the video that it shows. */
export function isYouTube(url: string): boolean {
  return YOUTUBE.test(url);
}
