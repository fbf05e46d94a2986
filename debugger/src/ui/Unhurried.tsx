/** A part that follows while it is in sight, and out of sight when what it shows comes to rest: while one scrubs,
 * elements that nobody sees are not changed at each answer, nor those that nobody could read more often than `pause`. */
import type { ComponentType } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

/** Milliseconds without news after which a part out of sight follows. */
const RESTS = 120;
/** What is nearly in sight counts as seen, so that one who scrolls finds it as it is. */
const NEAR = "400px";

interface Props<T> {
  now: T;
  /** Milliseconds between two changes in sight at least; what comes after a longer rest is there at once. */
  pause?: number;
  part: ComponentType<{ now: T }>;
}

export function Unhurried<T>({ now, pause = 0, part: Part }: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const seen = useRef(true);
  const [rested, rest] = useState(now);
  const held = useRef(now);
  const moved = useRef(-Infinity);
  const early = seen.current ? moved.current + pause - performance.now() : RESTS;
  if (early <= 0 || rested === now) {
    if (held.current !== now) moved.current = performance.now();
    held.current = now;
  }
  const shown = held.current;
  useEffect(() => {
    if (shown === now) return;
    const timer = setTimeout(() => rest(now), early);
    return () => clearTimeout(timer);
  }, [now, shown]);
  const [, again] = useState(false);
  useEffect(() => {
    const watch = new IntersectionObserver(
      ([entry]) => {
        seen.current = entry?.isIntersecting ?? true;
        if (seen.current) again((was) => !was);
      },
      { root: box.current?.closest(".scroll") ?? null, rootMargin: NEAR },
    );
    if (box.current) watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  const content = useMemo(() => <Part now={shown} />, [Part, shown]);
  return <div ref={box}>{content}</div>;
}
