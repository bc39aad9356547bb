/** Icons as paths of a 16 by 16 grid, drawn with the colour of the text around them. */

const PATHS = {
  alert: "M8 2.5 14 13.5H2zM8 6.5v3M8 11.6v.1",
  approvals: "M2.5 8.5 6 12l7.5-8",
  audit: "M4 2.5h5.5L12 5v8.5H4zM6 7h4M6 9.5h4",
  branch: "M4.5 3v10M4.5 8.5c4 0 7-.5 7-4.5M11.5 4.2v-.1",
  call: "M6 3 3 8l3 5M10 3l3 5-3 5",
  chart: "M2.5 13.5h11M4.5 11V7M8 11V3.5M11.5 11V8.5",
  check: "M3.5 8.5 6.5 11.5 12.5 5",
  chevron: "M6 4l4 4-4 4",
  clock: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM8 5v3.2L10 10",
  close: "M4 4l8 8M12 4l-8 8",
  compare: "M5.5 2.5v11M10.5 2.5v11M2.5 5h3M10.5 11h3M2.5 8h3M10.5 8h3",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  dollar:
    "M8 2v12M11 4.8C10.4 3.9 9.3 3.5 8 3.5c-1.8 0-3 .8-3 2.1 0 3 6.2 1.6 6.2 4.7 0 1.4-1.3 2.2-3.2 2.2-1.5 0-2.7-.5-3.3-1.5",
  dot: "M8 7.6v.1",
  download: "M8 2.5v7.5M5 7.5 8 10.5l3-3M2.5 13.5h11",
  file: "M4 2.5h5L12 5.5v8H4zM9 2.5v3h3",
  folder: "M2.5 4.5h4l1.5 2h5.5v6.5h-11z",
  gear: "M8 5.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4zM8 2v1.8M8 12.2V14M2 8h1.8M12.2 8H14M3.8 3.8 5 5M11 11l1.2 1.2M12.2 3.8 11 5M5 11l-1.2 1.2",
  key: "M5.5 7a3 3 0 1 0 0 2M8.3 8h5.2v2.5M11 8v2",
  limit: "M3 12a5.5 5.5 0 1 1 10 0M8 9.5 10.5 6",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  minus: "M4 8h8",
  model: "M8 2 13 5v6l-5 3-5-3V5zM3 5l5 3 5-3M8 8v6",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z",
  more: "M3.5 8v.1M8 8v.1M12.5 8v.1",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  people:
    "M6 7.5a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4zM2 13c0-2.4 1.8-3.8 4-3.8s4 1.4 4 3.8M10.5 3.4a2.2 2.2 0 0 1 0 4M11.7 9.5c1.4.5 2.3 1.7 2.3 3.5",
  play: "M5 3.5v9l7.5-4.5z",
  plus: "M8 3v10M3 8h10",
  question:
    "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM6.4 6.4c.2-.9.8-1.4 1.7-1.4 1 0 1.7.6 1.7 1.5 0 1.3-1.8 1.3-1.8 2.6M8 11.1v.1",
  repeat: "M3 8a5 5 0 0 1 8.6-3.5L13 6M13 2.8V6H9.8M13 8a5 5 0 0 1-8.6 3.5L3 10M3 13.2V10h3.2",
  run: "M3 3.5h4v4H3zM9 8.5h4v4H9zM7 5.5h4v3M5 7.5v3h4",
  running: "M8 2.5a5.5 5.5 0 1 1-5.5 5.5",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.4 10.4l3.1 3.1",
  send: "M2.5 8 13.5 2.8 10.5 13.2 7.5 9z",
  session: "M2.5 3.5h11v7h-6l-3 2.5v-2.5h-2z",
  sign_out: "M9.5 3h-6v10h6M7 8h6.5M11 5.5 13.5 8 11 10.5",
  stop: "M4.5 4.5h7v7h-7z",
  summary: "M3 4h10M3 8h6M3 12h8",
  sun: "M8 5.3a2.7 2.7 0 1 0 0 5.4 2.7 2.7 0 0 0 0-5.4zM8 1.8v1M8 13.2v1M1.8 8h1M13.2 8h1M3.6 3.6l.7.7M11.7 11.7l.7.7M12.4 3.6l-.7.7M4.3 11.7l-.7.7",
  system: "M2.5 3.5h11v7h-11zM6 13.5h4M8 10.5v3",
  tool: "M9.8 6.2a3 3 0 0 0-4-3.6l1.8 1.8-1.7 1.7-1.8-1.8a3 3 0 0 0 3.6 4l4.6 4.6 1.8-1.8z",
  turn: "M4 3.5h8v6H8l-2.5 3v-3H4z",
  zoom: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.4 10.4l3.1 3.1M5 7h4M7 5v4",
} as const;

export type IconName = keyof typeof PATHS;

/** Decoration: the meaning is beside it as text. */
export function Icon({
  name,
  small = false,
}: {
  readonly name: IconName;
  readonly small?: boolean;
}) {
  return (
    <svg class={small ? "icon small" : "icon"} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** A tree that grows a branch. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 22 22" aria-hidden="true" fill="none" stroke="currentColor">
      <path d="M8 20V3" stroke-width="2.4" stroke-linecap="round" />
      <path d="M8 14c5 0 7-2.4 7-7" stroke-width="2.4" stroke-linecap="round" />
      <circle cx="15" cy="4.6" r="2.4" fill="currentColor" stroke="none" />
    </svg>
  );
}
