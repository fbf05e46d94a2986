/** An edge that can be moved, by pointer and by arrow keys. */
import type { Signal } from "@preact/signals";

interface Props {
  size: Signal<number>;
  /** What it is where `size` leaves it open. */
  now?: number;
  min: number;
  max: number;
  /** Which edge of its box this is; dragging away from the box makes it larger. */
  edge: "left" | "right" | "bottom";
  label: string;
}

export function Splitter({ size, now, min, max, edge, label }: Props) {
  const sign = edge === "left" ? -1 : 1;
  const set = (value: number) => (size.value = Math.round(Math.max(min, Math.min(max, value))));
  const start = (down: PointerEvent) => {
    const handle = down.currentTarget as HTMLElement;
    handle.setPointerCapture(down.pointerId);
    const [at, before] = [edge === "bottom" ? down.clientY : down.clientX, now ?? size.peek()];
    const move = (event: PointerEvent) => set(before + sign * ((edge === "bottom" ? event.clientY : event.clientX) - at));
    const end = () => {
      handle.removeEventListener("pointermove", move);
      handle.removeEventListener("pointerup", end);
    };
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", end);
  };
  const press = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    set((now ?? size.peek()) + by * sign * 16);
  };
  return (
    <div
      class={`splitter ${edge}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={edge === "bottom" ? "horizontal" : "vertical"}
      aria-valuemin={min}
      aria-valuemax={max}
      aria-valuenow={now ?? size.value}
      onPointerDown={start}
      onKeyDown={press}
    />
  );
}
