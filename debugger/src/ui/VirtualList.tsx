/** A list of which only the rows in sight are elements, however long it is. */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  measureElement,
} from "@tanstack/virtual-core";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useReducer, useRef } from "preact/hooks";

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
  useLayoutEffect(() => {
    if (at != null && at >= 0 && at < count) rows.scrollToIndex(at, { align: "auto" });
  }, [at, count > 0, rows.scrollRect?.height]);
  return (
    <div class={`vlist ${props.class ?? ""}`} ref={box} role={role} aria-label={label} tabIndex={0}>
      <div style={{ height: `${rows.getTotalSize()}px`, position: "relative" }} role="presentation">
        {items.map((item) => (
          <div
            key={item.key as string}
            data-index={item.index}
            ref={measured ? (node: HTMLElement | null) => void rows.measureElement(node) : undefined}
            class="vrow"
            role="presentation"
            style={{ transform: `translateY(${item.start}px)`, ...(measured ? {} : { height: `${size}px` }) }}
          >
            {row(item.index)}
          </div>
        ))}
      </div>
    </div>
  );
}
