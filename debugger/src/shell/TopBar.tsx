/** The head of the page: which run, which panel, and what is always at hand. */
import { useEffect, useRef } from "preact/hooks";
import { isStatic } from "../api/static";
import { rate } from "../store/live";
import { goOpen, helpOpen, jump, move } from "../store/keys";
import { changeSpeed, playing, speed, SPEEDS, togglePlay } from "../store/play";
import { axis, inspectorOpen, isDark, listOpen, switchTheme } from "../store/prefs";
import { openPanel, panel, PANEL_NAMES, PANELS, seq, type Panel } from "../store/route";
import { firstSeq, followLive, goTo, lastSeq, run } from "../store/run";
import { slow } from "../store/follow";
import { event, late } from "../store/now";
import { by, chosen, fit, zoomBy } from "../timebar/window";
import { clock, count, offset, plural, short } from "../ui/format";
import { Icon } from "../ui/Icon";
import { rest, kindOf } from "../ui/kinds";

const ONLINE: Panel[] = ["compare", "fork", "runs"];

export const panels = (): Panel[] => PANELS.filter((name) => !isStatic() || !ONLINE.includes(name));

export function TopBar() {
  const about = run.value;
  return (
    <header class="topbar">
      <h1 class="sr">lctl debug{about ? `: ${about.id}` : ""}</h1>
      <button class="brand" type="button" onClick={() => openPanel(isStatic() ? "conversation" : "runs")} title="All runs">
        <Icon name="logo" />
        <strong class="ellipsis">{about?.id ?? "lctl"}</strong>
      </button>
      {about ? <Status /> : null}
      <Tabs />
      <span class="grow" />
      <button
        class="button ghost icon"
        type="button"
        aria-pressed={listOpen.value}
        aria-label="List of events"
        title="List of events (e)"
        onClick={() => (listOpen.value = !listOpen.value)}
      >
        <Icon name="left" />
      </button>
      <button
        class="button ghost icon"
        type="button"
        aria-pressed={inspectorOpen.value}
        aria-label="Inspector"
        title="Inspector (i)"
        onClick={() => (inspectorOpen.value = !inspectorOpen.value)}
      >
        <Icon name="right" />
      </button>
      <button class="button ghost icon" type="button" aria-label="Dark or light" title="Dark or light (m)" onClick={switchTheme}>
        <Icon name={isDark() ? "sun" : "moon"} />
      </button>
      <button class="button ghost icon" type="button" aria-label="Keys" title="Keys (?)" onClick={() => (helpOpen.value = true)}>
        ?
      </button>
      {slow.value ? <i class="busy" aria-hidden="true" /> : null}
    </header>
  );
}

const STATUS: Record<string, [string, string]> = {
  ok: ["good", "ended well"],
  error: ["error", "failed"],
  interrupted: ["warn", "interrupted"],
  unfinished: ["warn", "unfinished"],
  unknown: ["", "how it ended is not known"],
  unreadable: ["error", "unreadable"],
};

function Status() {
  const about = run.value;
  if (!about) return null;
  if (about.live)
    return (
      <button
        class={`tag ${followLive.value ? "accent" : ""} live`}
        type="button"
        title="The run goes on. Stay at its newest event (l)"
        onClick={() => {
          followLive.value = true;
          seq.value = lastSeq.value;
        }}
      >
        <i class="pulse" /> live{rate.value >= 1 ? ` · ${short(rate.value)}/s` : ""}
      </button>
    );
  const [kind, text] = STATUS[about.status] ?? ["", about.status];
  return (
    <>
      <span class={`tag ${kind}`}>{text}</span>
      {about.failures > 0 ? (
        <button
          class="tag error"
          type="button"
          title="Errors, failed tool calls, and steps that failed without one, as the time bar marks them. To the next one (])"
          onClick={() => void jump("error", false, true)}
        >
          {plural(about.failures, "failure")}
        </button>
      ) : null}
    </>
  );
}

function Tabs() {
  const names = panels();
  const row = useRef<HTMLElement>(null);
  // in a narrow window not all fit, and the chosen one may be among those that do not
  useEffect(() => {
    const inView = () => row.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    const watch = new ResizeObserver(inView);
    if (row.current) watch.observe(row.current);
    return () => watch.disconnect();
  }, [panel.value]);
  const press = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = names[(names.indexOf(panel.value) + step + names.length) % names.length] as Panel;
    openPanel(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <nav ref={row} class="tabs" role="tablist" aria-label="Panels" onKeyDown={press}>
      {names.map((name) => (
        <button
          key={name}
          id={`tab-${name}`}
          type="button"
          role="tab"
          aria-selected={panel.value === name}
          aria-controls="panel"
          tabIndex={panel.value === name ? 0 : -1}
          onClick={() => openPanel(name)}
        >
          {PANEL_NAMES[name]}
        </button>
      ))}
    </nav>
  );
}

export function Transport() {
  return (
    <div class="transport" role="toolbar" aria-label="Moving through the run">
      <div class="row">
        <Move icon="first" label="First event" keys="Home" act={() => goTo(firstSeq.value)} />
        <Move icon="back" label="Previous step" keys="shift ←" act={() => void jump("step", true)} />
        <Move icon="previous" label="Previous event" keys="←" act={() => move(-1)} />
        <button
          class="button icon play"
          type="button"
          aria-label={playing.value ? "Pause" : "Play"}
          title="Play or pause (space)"
          onClick={togglePlay}
        >
          <Icon name={playing.value ? "pause" : "play"} />
        </button>
        <Move icon="next" label="Next event" keys="→" act={() => move(1)} />
        <Move icon="forward" label="Next step" keys="shift →" act={() => void jump("step", false)} />
        <Move icon="last" label="Last event" keys="End" act={() => goTo(lastSeq.value)} />
        <select
          class="input speed"
          aria-label="Speed"
          title="Speed (, and .)"
          value={String(speed.value)}
          onChange={(event) => (speed.value = Number(event.currentTarget.value))}
          onWheel={(event) => changeSpeed(event.deltaY > 0 ? -1 : 1)}
        >
          {SPEEDS.map((n) => (
            <option key={n} value={String(n)}>
              {n}×
            </option>
          ))}
        </select>
        <Move icon="error" label="Next failure" keys="]" act={() => void jump("error", false, true)} />
      </div>
      <Where />
      <What />
      <div class="row">
        <button
          class="button ghost"
          type="button"
          title="By time or by event (t)"
          disabled={!run.value?.duration_ms}
          onClick={() => (axis.value = axis.value === "time" ? "seq" : "time")}
        >
          {by.value === "time" ? "by time" : "by event"}
        </button>
        <Move icon="minus" label="Zoom out" keys="-" act={() => zoomBy(2)} />
        <Move icon="plus" label="Zoom in" keys="+" act={() => zoomBy(0.5)} />
        <button class="button ghost" type="button" disabled={!chosen.value} onClick={fit} title="Whole run (0)">
          fit
        </button>
      </div>
    </div>
  );
}

/** Alone, for it changes at every frame while one scrubs, and the buttons around it do not. */
function Where() {
  return (
    <button class="where num" type="button" title="Go to an event (g)" onClick={() => (goOpen.value = true)}>
      <b>{count(seq.value)}</b> <span class="dim">/ {count(lastSeq.value)}</span>
    </button>
  );
}

function What() {
  const row = event.value.value?.row;
  if (!row) return <span class="grow" />;
  return (
    <div class={`what row grow k-${kindOf(row)} ${late(row.seq)}`} aria-live="off">
      <span class="num soft" title={row.timestamp ?? ""}>
        {offset(row.ms)}
      </span>
      <span class="num dim clock">{clock(row.timestamp)}</span>
      <span class="glyph" />
      <b>{row.type}</b>
      <span class="ellipsis soft">{rest(row)}</span>
    </div>
  );
}

function Move({ icon, label, keys, act }: { icon: string; label: string; keys: string; act: () => void }) {
  return (
    <button class="button ghost icon" type="button" aria-label={label} title={`${label} (${keys})`} onClick={act}>
      <Icon name={icon} />
    </button>
  );
}

