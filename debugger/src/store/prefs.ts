/** What the reader prefers, kept in the browser where it lets the page. */
import { effect, signal, type Signal } from "@preact/signals";

function kept<T>(name: string, otherwise: T): Signal<T> {
  let start = otherwise;
  try {
    const text = localStorage.getItem(`lctl.${name}`);
    if (text !== null) start = JSON.parse(text) as T;
  } catch {
    // no storage in this browser: what it is by default
  }
  const value = signal(start);
  effect(() => {
    try {
      localStorage.setItem(`lctl.${name}`, JSON.stringify(value.value));
    } catch {
      // not kept
    }
  });
  return value;
}

export const theme = kept<"system" | "dark" | "light">("theme", "system");
export const axis = kept<"time" | "seq">("axis", "time");
export const listOpen = kept("list", true);
/** The list shows what only a rerun needs, too. */
export const asideShown = kept("aside", false);
export const inspectorOpen = kept("inspector", true);
export const listWidth = kept("listWidth", 300);
export const inspectorWidth = kept("inspectorWidth", 360);
/** 0: as high as its lanes need, within reason. */
export const timebarHeight = kept("timebarHeight", 0);

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(dark.matches);
dark.addEventListener("change", () => (systemDark.value = dark.matches));

/** Grows with every change of colours: what is drawn on a canvas is drawn again. */
export const painted = signal(0);

export const isDark = (): boolean => (theme.value === "system" ? systemDark.value : theme.value === "dark");

effect(() => {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  painted.value = painted.peek() + 1;
});

export const switchTheme = (): void => {
  theme.value = isDark() ? "light" : "dark";
};
