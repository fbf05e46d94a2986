/** All events, in order: the chosen one in sight, those after it standing back. */
import { useEffect } from "preact/hooks";
import { firstSeq, goTo, grown, lastSeq, run } from "../store/run";
import { seq } from "../store/route";
import { pages } from "../store/rows";
import { EventRow } from "../ui/EventRow";
import { VirtualList } from "../ui/VirtualList";
import { count } from "../ui/format";

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

export function EventList() {
  const about = run.value;
  const [first, last] = [firstSeq.value, lastSeq.value];
  const rows = about && about.events > 0 ? Math.min(MOST, last - first + 1) : 0;
  pages.open(about?.key ?? "");
  pages.version.value;
  useEffect(() => {
    const near = Math.max(first, seq.peek() - 30);
    if (rows) pages.need(near, near + 60, last);
  }, [about?.key, grown.value]);
  if (!about) return null;
  if (rows === 0)
    return (
      <div class="empty">
        <strong>No events yet</strong>
        <span>{about.live ? "The run has just begun." : "This log holds none."}</span>
      </div>
    );
  const at = seq.value;
  return (
    <VirtualList
      class="events"
      label={`Events, ${count(rows)}`}
      count={rows}
      size={24}
      reused
      at={at - first}
      onRange={(from, to) => pages.need(first + from, first + to, last)}
      row={(index) => {
        const row = pages.row(first + index);
        if (!row) return <NoRow seq={first + index} lacking={pages.lacks(first + index, last)} />;
        return <EventRow row={row} chosen={row.seq === at} future={row.seq > at} onChoose={goTo} />;
      }}
    />
  );
}
