/** The page's few signs, drawn on a grid of 16. */
const PATHS: Record<string, string> = {
  first: "M4 3v10M13 3 6 8l7 5z",
  last: "M12 3v10M3 3l7 5-7 5z",
  previous: "M10.5 3 4.5 8l6 5",
  next: "M5.5 3l6 5-6 5",
  back: "M12 3 7 8l5 5M7 3 2 8l5 5",
  forward: "M4 3l5 5-5 5M9 3l5 5-5 5",
  play: "M4.5 2.5v11l9-5.5z",
  pause: "M5 3v10M11 3v10",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  error: "M8 2.5 14 13H2zM8 6.5v3M8 11.4v.1",
  left: "M2.5 3h11v10h-11zM6.5 3v10",
  right: "M2.5 3h11v10h-11zM9.5 3v10",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.5 10.5 14 14",
  branch: "M4 2v8M4 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM12 6a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM12 6c0 3-3 4-6 5",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  chevron: "M5 6.5 8 9.5l3-3",
  logo: "M2 4h7M2 8h9M2 12h5M11 2v12",
};
const FILLED = new Set(["play"]);

export function Icon({ name }: { name: string }) {
  return (
    <svg width="14" height="14" viewBox="0 0 16 16" aria-hidden="true" class={`icon-${name}`}>
      <path
        d={PATHS[name] ?? ""}
        fill={FILLED.has(name) ? "currentColor" : "none"}
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
