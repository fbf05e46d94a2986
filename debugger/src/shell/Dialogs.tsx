/** The keys, and going to an event. */
import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { goOpen, helpOpen, KEYS } from "../store/keys";
import { seq } from "../store/route";
import { firstSeq, goTo, lastSeq } from "../store/run";

function Dialog({ open, label, children }: { open: Signal<boolean>; label: string; children: ComponentChildren }) {
  const box = useRef<HTMLDialogElement>(null);
  // Before the next key: an effect after painting would leave what is typed at once to the page's keys.
  useLayoutEffect(() => {
    if (open.value && !box.current?.open) box.current?.showModal();
    if (!open.value && box.current?.open) box.current.close();
  }, [open.value]);
  return (
    <dialog
      ref={box}
      aria-label={label}
      onClose={() => (open.value = false)}
      onClick={(event) => event.target === box.current && (open.value = false)}
      onKeyDown={(event) => {
        if (event.key === "?" && open === helpOpen) {
          event.preventDefault();
          open.value = false;
        }
      }}
    >
      {open.value ? <div class="dialog-body">{children}</div> : null}
    </dialog>
  );
}

const SIGNS: Record<string, string> = { ArrowLeft: "←", ArrowRight: "→", " ": "space", Shift: "shift" };

const signs = (key: string): string[] => key === "+" ? ["+"] : key.split("+").filter(Boolean).map((part) => SIGNS[part] ?? part);

export function Help() {
  return (
    <Dialog open={helpOpen} label="Keys">
      <h2>Keys</h2>
      <div class="keys">
        {(["Move", "Play", "Time bar", "Page"] as const).map((group) => (
          <section key={group}>
            <h3 class="heading">{group}</h3>
            <dl>
              {KEYS.filter((key) => key.group === group).map((key) => (
                <div key={key.text}>
                  <dt>
                    {signs(key.keys[0] ?? "").map((sign) => (
                      <kbd key={sign}>{sign}</kbd>
                    ))}
                  </dt>
                  <dd>{key.text}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <section>
          <h3 class="heading">Time bar, by hand</h3>
          <p class="soft">Drag: choose an event. Wheel: zoom. Shift and drag, or sideways: move along. The strip above is the whole run.</p>
        </section>
      </div>
    </Dialog>
  );
}

export function GoTo() {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.select(), [goOpen.value]);
  return (
    <Dialog open={goOpen} label="Go to an event">
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = Number(input.current?.value);
          if (Number.isFinite(wanted)) goTo(wanted);
          goOpen.value = false;
        }}
      >
        <label for="go-to">Go to event</label>
        <input id="go-to" ref={input} class="input num" inputMode="numeric" defaultValue={String(seq.peek())} />
        <span class="dim num">
          of {firstSeq.value}–{lastSeq.value}
        </span>
        <button type="submit" class="button primary">
          Go
        </button>
      </form>
    </Dialog>
  );
}
