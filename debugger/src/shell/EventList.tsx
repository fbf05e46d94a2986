/** All events, in order: the chosen one in sight, those after it standing back. */
import { useEffect } from "preact/hooks";
import { asideCount, listed } from "../store/aside";
import { asideShown } from "../store/prefs";
import { goTo, grown, lastSeq, run } from "../store/run";
import { seq } from "../store/route";
import { pages } from "../store/rows";
import { EventRow } from "../ui/EventRow";
import { VirtualList } from "../ui/VirtualList";
import { count, plural } from "../ui/format";

/** In the place of an event that is not here yet, or that the log does not hold. */
function NoRow({ seq, lacking }: { seq: number; lacking: boolean }) {
  return (
    <div class={`event ${lacking ? "lacking" : "waiting"}`}>
      <span class="seq num">{seq}</span>
      {lacking ? <span class="text">not in the log</span> : null}
    </div>
  );
}

/** Rows of a list with a gap of billions would be a list of billions. */
const MOST = 5_000_000;

/** What the list leaves out, and how to have it. */
function Aside({ left }: { left: number }) {
  if (!asideCount.value) return null;
  return (
    <div class="list-head">
      <span class="ellipsis" title="What the program read of clock, random and environment, and what it printed: a rerun needs it">
        {asideShown.value ? `with ${plural(asideCount.value, "event")}` : `without ${plural(left, "event")}`} of the tape
      </span>
      <button class="button ghost" type="button" aria-pressed={asideShown.value} onClick={() => (asideShown.value = !asideShown.value)}>
        {asideShown.value ? "leave out" : "show"}
      </button>
    </div>
  );
}

export function EventList() {
  const about = run.value;
  const last = lastSeq.value;
  const at = seq.value;
  const list = listed(at);
  const rows = about && about.events > 0 ? Math.min(MOST, list.rows) : 0;
  const near = (from: number, to: number): number[] => {
    const seqs: number[] = [];
    for (let n = Math.max(0, from); n <= Math.min(to, rows - 1); n++) seqs.push(list.seqAt(n));
    return seqs;
  };
  pages.open(about?.key ?? "");
  pages.version.value;
  useEffect(() => {
    if (rows) pages.need(near(list.chosen - 30, list.chosen + 30), last);
  }, [about?.key, grown.value]);
  if (!about) return null;
  if (rows === 0)
    return (
      <div class="empty">
        <strong>No events yet</strong>
        <span>{about.live ? "The run has just begun." : "This log holds none."}</span>
      </div>
    );
  return (
    <>
      <Aside left={list.left} />
      <VirtualList
        class="events"
        label={`Events, ${count(rows)}`}
        count={rows}
        size={24}
        reused
        at={list.chosen}
        onRange={(from, to) => pages.need(near(from, to), last)}
        row={(index) => {
          const here = list.seqAt(index);
          const row = pages.row(here);
          if (!row) return <NoRow seq={here} lacking={pages.lacks(here, last)} />;
          return <EventRow row={row} chosen={row.seq === at} future={row.seq > at} onChoose={goTo} />;
        }}
      />
    </>
  );
}
