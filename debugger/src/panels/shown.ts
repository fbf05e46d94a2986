/** Keeps the message of the chosen event in sight. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { followLive } from "../store/run";

/** Of a run that goes on only while the reader is there: not when he has scrolled to another one. */
export function useShown(thread: { current: HTMLElement | null }, id: string | undefined, moment: string): void {
  const shown = useRef<{ message: HTMLElement; top: number } | null>(null);
  const away = useRef(false);
  const show = () => {
    const view = thread.current?.closest<HTMLElement>(".scroll");
    const message = thread.current?.querySelector<HTMLElement>("[data-here]");
    if (!view || !message) return;
    bring(view, message);
    shown.current = { message, top: view.scrollTop };
    away.current = false;
  };
  useEffect(() => {
    const view = thread.current?.closest<HTMLElement>(".scroll");
    if (!view) return;
    const moved = () => (away.current = !!shown.current?.message.isConnected && !overlap(view, shown.current.message));
    const loaded = () => shown.current && Math.abs(view.scrollTop - shown.current.top) < 2 && show(); // a picture takes its place late
    view.addEventListener("scroll", moved, { passive: true });
    view.addEventListener("load", loaded, true);
    return () => {
      view.removeEventListener("scroll", moved);
      view.removeEventListener("load", loaded, true);
    };
  }, [id === undefined]);
  useLayoutEffect(() => {
    if (!(followLive.peek() && away.current)) show();
  }, [id, moment]);
}

/** Keeps what is chosen in a list in sight. The list alone is scrolled: in a narrow window it is in a page that scrolls too. */
export function useInList(item: { current: HTMLElement | null }, chosen: boolean): void {
  useLayoutEffect(() => {
    const list = item.current?.closest<HTMLElement>(".items");
    if (chosen && list && item.current) bring(list, item.current, 0);
  }, [chosen]);
}

/** Pixels that are left between a message and the edge it was brought to. */
const SPACE = 14;

/** Scrolls as little as is needed; of a message that is higher than the view the beginning is what counts. */
function bring(view: HTMLElement, message: HTMLElement, space = SPACE): void {
  const [outer, inner] = [view.getBoundingClientRect(), message.getBoundingClientRect()];
  if (inner.height > outer.height || inner.top < outer.top) view.scrollTop += inner.top - outer.top - space;
  else if (inner.bottom > outer.bottom) view.scrollTop += inner.bottom - outer.bottom + space;
}

function overlap(view: HTMLElement, message: HTMLElement): boolean {
  const [outer, inner] = [view.getBoundingClientRect(), message.getBoundingClientRect()];
  return inner.top < outer.bottom && inner.bottom > outer.top;
}
