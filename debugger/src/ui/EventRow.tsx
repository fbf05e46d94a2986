import { Component } from "preact";
import type { Row } from "../api/shapes";
import { duration } from "./format";
import { kindOf, rest } from "./kinds";

interface Props {
  row: Row;
  chosen?: boolean;
  future?: boolean;
  agent?: boolean;
  onChoose: (seq: number) => void;
}

/** One event in a list: its number, its family, what it is, how long it took. Rendered only for other words: a list
 * asks for all of its rows at each frame while one scrubs. */
export class EventRow extends Component<Props> {
  override shouldComponentUpdate(next: Props): boolean {
    const { row, chosen, future, agent, onChoose } = this.props;
    return (
      next.row !== row || next.chosen !== chosen || next.future !== future || next.agent !== agent || next.onChoose !== onChoose
    );
  }

  override render({ row, chosen = false, future = false, agent = false, onChoose }: Props) {
    return (
      <div
        class={`event k-${kindOf(row)} ${future ? "future" : ""}`}
        role="option"
        aria-selected={chosen}
        data-seq={row.seq}
        onClick={() => onChoose(row.seq)}
        title={row.summary}
      >
        <span class="seq num">{row.seq}</span>
        <span class="glyph" style={{ marginLeft: `${Math.min(row.depth, 8) * 8}px` }} />
        <span class="type">{row.type}</span>
        <span class="ellipsis grow text">{rest(row)}</span>
        {agent && row.agent ? <span class="tag">{row.agent}</span> : null}
        {row.duration_ms != null ? <span class="num dim">{duration(row.duration_ms)}</span> : null}
      </div>
    );
  }
}
