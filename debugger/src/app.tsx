/** The page: head, time bar, events, a panel, the inspector. */
import { useEffect, useLayoutEffect } from "preact/hooks";
import { Compare } from "./panels/Compare";
import { Conversation } from "./panels/Conversation";
import { Cost } from "./panels/Cost";
import { Flow } from "./panels/Flow";
import { Fork } from "./panels/Fork";
import { Runs } from "./panels/Runs";
import { Search } from "./panels/Search";
import { State } from "./panels/State";
import { GoTo, Help } from "./shell/Dialogs";
import { EventList } from "./shell/EventList";
import { Inspector } from "./shell/Inspector";
import { Notes } from "./shell/Notes";
import { panels, TopBar, Transport } from "./shell/TopBar";
import { followAside } from "./store/aside";
import { listenToKeys } from "./store/keys";
import { followRun } from "./store/live";
import { notice } from "./store/notices";
import { followSeq } from "./store/now";
import { inspectorOpen, inspectorWidth, listOpen, listWidth } from "./store/prefs";
import { isStatic } from "./api/static";
import { keepAddress, openPanel, panel, type Panel } from "./store/route";
import { arrive, followWish, isEmpty, problem, run, session } from "./store/run";
import { TimeBar } from "./timebar/TimeBar";
import { followWindow } from "./timebar/window";
import { Splitter } from "./ui/Splitter";
import "./shell/shell.css";
import "./shell/narrow.css";

const PANELS: Record<Panel, () => preact.JSX.Element | null> = {
  conversation: Conversation,
  state: State,
  flow: Flow,
  cost: Cost,
  search: Search,
  compare: Compare,
  fork: Fork,
  runs: Runs,
};

export function App() {
  useLayoutEffect(() => {
    const stops = [keepAddress(arrive), listenToKeys()]; // with the first drawing: what is chosen before the next frame counts
    return () => stops.forEach((stop) => stop());
  }, []);
  useEffect(() => {
    const stops = [followSeq(), followWindow(), followRun(), followAside(), followWish()];
    return () => stops.forEach((stop) => stop());
  }, []);
  const title = run.value?.id;
  useEffect(() => {
    document.title = title ? `${title} · lctl debug` : "lctl debug";
  }, [title]);
  const name = panels().includes(panel.value) ? panel.value : "conversation";
  return (
    <div class="app">
      <TopBar />
      {run.value && name !== "runs" ? <RunView name={name} /> : <Outside name={name} />}
      <Help />
      <GoTo />
      <div class="notice-area" role="status" aria-live="polite">
        {notice.value ? <p class={`notice ${notice.value.kind}`}>{notice.value.text}</p> : null}
      </div>
    </div>
  );
}

/** Panels that say something of a run without events. */
const WITHOUT_EVENTS = new Set<Panel>(["compare", "runs"]);

function NoEvents() {
  return (
    <div class="empty">
      <strong>{run.value?.live ? "Nothing has happened yet" : "This log has no events"}</strong>
      <span>{run.value?.live ? "The page follows the program: what it does shows here." : "Its program ended before it did anything, or recorded nothing."}</span>
    </div>
  );
}

function RunView({ name }: { name: Panel }) {
  const View = isEmpty.value && !WITHOUT_EVENTS.has(name) ? NoEvents : PANELS[name];
  const whole = name === "compare";
  return (
    <main class="run-view">
      <Transport />
      <TimeBar />
      <Notes />
      <div class="columns">
        {listOpen.value && !whole ? (
          <section class="column list" style={{ width: `${listWidth.value}px` }} aria-label="Events">
            <EventList />
            <Splitter size={listWidth} min={180} max={640} edge="right" label="Width of the list of events" />
          </section>
        ) : null}
        <section class="column middle" id="panel" role="tabpanel" aria-labelledby={`tab-${name}`}>
          <View />
        </section>
        {inspectorOpen.value && !whole ? (
          <aside class="column side" style={{ width: `${inspectorWidth.value}px` }} aria-label="Inspector">
            <Splitter size={inspectorWidth} min={260} max={720} edge="left" label="Width of the inspector" />
            <Inspector />
          </aside>
        ) : null}
      </div>
    </main>
  );
}

/** The runs of the folder, or what keeps a run from being shown. */
function Outside({ name }: { name: Panel }) {
  if (name === "runs" && (!problem.value || session.value?.folder))
    return (
      <main class="columns">
        <section class="column middle" id="panel" role="tabpanel" aria-labelledby="tab-runs">
          <Runs />
        </section>
      </main>
    );
  return (
    <main class="boot">
      {problem.value ? (
        <section id="panel" role="tabpanel" aria-labelledby={`tab-${name}`}>
          <p class="notice error" role="alert">
            {problem.value}
          </p>
          {session.value?.folder && !isStatic() ? (
            <button type="button" class="button" onClick={() => openPanel("runs")}>
              All runs
            </button>
          ) : null}
        </section>
      ) : (
        <p role="status">Opening the log…</p>
      )}
    </main>
  );
}
