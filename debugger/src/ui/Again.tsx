/** Answers that are not whole yet: asked for again until they are. */
import type { Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

const PAUSE = 500;

/** Grows `again`, which the wish's key holds, while the answer says that a better one will come. */
export function useAgain(answer: { progress: number } | null, again: Signal<number>): void {
  useEffect(() => {
    if (!answer || answer.progress >= 1) return;
    const timer = setTimeout(() => (again.value += 1), PAUSE);
    return () => clearTimeout(timer);
  }, [answer]);
}

export function WorkingOut({ what }: { what: string }) {
  return (
    <p class="notice inset" role="status">
      <i class="pulse" /> {what}…
    </p>
  );
}
