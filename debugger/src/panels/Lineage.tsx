/** Forks and reruns under what they came from. */
import { api } from "../api/client";
import { useFollow } from "../store/follow";
import { ago, cost, plural, told } from "../ui/format";
import { run } from "../store/run";

export function Lineage({ chosen, onChoose }: { chosen: string; onChoose: (key: string) => void }) {
  const tree = useFollow(() => ({ key: run.value?.key ?? "", ask: () => api.lineage() }));
  const runs = tree.value.value?.runs ?? [];
  if (!tree.value.value) return null;
  const family = familyOf(runs, chosen);
  const shown = family.length > 1 ? family : runs.filter((row) => row.key !== chosen).slice(0, 60);
  if (runs.length < 2) return <p class="dim">There is no other run in this folder. A fork of this one would stand here.</p>;
  return (
    <>
      {family.length > 1 ? null : <p class="dim">This run has no forks or reruns yet. Choose one of the folder to compare it with:</p>}
      <ul class="lineage">
        {shown.map((row) => (
          <li key={row.key} style={{ paddingLeft: `${Math.min(row.depth, 10) * 22}px` }}>
            <button type="button" class="item inline" aria-current={row.key === chosen} onClick={() => onChoose(row.key)}>
              {row.depth ? <span class="dim">└</span> : null}
              <b class="mono ellipsis">{row.id}</b>
              <span class="tag">{row.kind}</span>
              {row.at != null && row.kind === "fork" ? <span class="dim num">at {row.at}</span> : null}
              <code class="ellipsis soft">{row.edits.join("; ")}</code>
              <span class="grow" />
              {row.errors ? <span class="tag error num">{plural(row.errors, "error")}</span> : null}
              <span class="num dim">{told(row.events)} events</span>
              <span class="num dim">{cost(row.cost)}</span>
              <span class="num dim">{ago(row.started)}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The rows of the tree that holds a run, in drawing order. */
function familyOf<T extends { key: string; depth: number }>(runs: T[], key: string): T[] {
  const at = runs.findIndex((row) => row.key === key);
  if (at < 0) return [];
  let first = at;
  while (first > 0 && (runs[first]?.depth ?? 0) > 0) first -= 1;
  let last = first + 1;
  while (last < runs.length && (runs[last]?.depth ?? 0) > 0) last += 1;
  return runs.slice(first, last);
}
