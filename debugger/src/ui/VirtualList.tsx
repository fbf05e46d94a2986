/** A list of which only the rows in sight are elements, however long it is. */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  measureElement,
} from "@tanstack/virtual-core";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from "preact/hooks";

interface Props {
  count: number;
  /** Pixels of a row; a first guess where `measured`. */
  size: number;
  measured?: boolean;
  row: (index: number) => ComponentChildren;
  /** The row to keep in sight; it is scrolled to when it changes. */
  at?: number | null;
  /** Tells which rows are in sight. */
  onRange?: (first: number, last: number) => void;
  label: string;
  role?: "listbox" | "list" | "rowgroup";
  class?: string;
  keyOf?: (index: number) => string | number;
  /** Elements of rows that went out of sight become others: for rows that keep nothing of their own. */
  reused?: boolean;
}

export function VirtualList(props: Props) {
  const { count, size, measured = false, row, at, onRange, label, role = "listbox" } = props;
  const box = useRef<HTMLDivElement>(null);
  const [, again] = useReducer<number, void>((n) => n + 1, 0);
  const list = useRef<Virtualizer<HTMLDivElement, Element> | null>(null);
  const options = {
    count,
    estimateSize: () => size,
    getScrollElement: () => box.current,
    overscan: 8,
    scrollPaddingStart: 3 * size,
    scrollPaddingEnd: 3 * size,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    measureElement,
    ...(props.keyOf ? { getItemKey: props.keyOf } : {}),
    onChange: () => again(),
  };
  const rows = (list.current ??= new Virtualizer<HTMLDivElement, Element>(options));
  rows.setOptions({ ...rows.options, ...options });
  useLayoutEffect(() => rows._didMount(), []);
  useLayoutEffect(() => rows._willUpdate());
  const items = rows.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items[items.length - 1]?.index ?? 0];
  useEffect(() => onRange?.(first, last), [first, last, count]);
  const pool = 2 ** Math.ceil(Math.log2(items.length + 1)); // seldom another, while the list scrolls
  const follow = useMemo(() => follower(box, rows), []);
  useLayoutEffect(() => {
    if (at == null || at < 0 || at >= count) return;
    if (measured) rows.scrollToIndex(at, { align: "auto" });
    else follow.to(at, size);
  }, [at, count > 0, rows.scrollRect?.height]);
  useEffect(() => follow.stop, []);
  return (
    <div class={`vlist ${props.class ?? ""}`} ref={box} role={role} aria-label={label} tabIndex={0}>
      <div style={{ height: `${rows.getTotalSize()}px`, position: "relative" }} role="presentation">
        {items.map((item) => (
          <div
            key={props.reused ? item.index % pool : (item.key as string)}
            data-index={item.index}
            ref={measured ? (node: HTMLElement | null) => void rows.measureElement(node) : undefined}
            class="vrow"
            role="presentation"
            // `top` and no transform where it can be: each transform is a node more for the browser at every frame
            style={measured ? { transform: `translateY(${item.start}px)` } : { top: `${item.start}px`, height: `${size}px` }}
          >
            {row(item.index)}
          </div>
        ))}
      </div>
    </div>
  );
}

/** Milliseconds between two places far from each other, while the list is dragged along: nobody reads it then. */
const FAR_MS = 120;

/** Keeps a row of a known height in sight. Nothing is asked of the page for it, which would lay it out at each frame. */
function follower(box: { current: HTMLDivElement | null }, rows: Virtualizer<HTMLDivElement, Element>) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let moved = -Infinity;
  const stop = () => clearTimeout(timer);
  const to = (at: number, size: number): void => {
    stop();
    const [top, height] = [rows.scrollOffset ?? 0, rows.scrollRect?.height ?? 0];
    if (!box.current || !height) return;
    const [above, below] = [(at - 3) * size, (at + 4) * size - height];
    const place = Math.max(0, Math.min(above < top ? above : Math.max(below, top), rows.getTotalSize() - height));
    if (place === top) return;
    const early = moved + FAR_MS - performance.now();
    if (Math.abs(place - top) > height && early > 0) {
      timer = setTimeout(() => to(at, size), early);
      return;
    }
    moved = performance.now();
    box.current.scrollTop = place;
  };
  return { to, stop };
}
