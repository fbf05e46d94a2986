/** What the page says in passing: shown for a while, and read out. */
import { signal } from "@preact/signals";

export interface Notice {
  text: string;
  kind: "info" | "error";
}

export const notice = signal<Notice | null>(null);

let timer: ReturnType<typeof setTimeout> | undefined;

export function say(text: string, kind: Notice["kind"] = "info"): void {
  notice.value = { text, kind };
  clearTimeout(timer);
  timer = setTimeout(() => (notice.value = null), kind === "error" ? 8000 : 1800);
}
