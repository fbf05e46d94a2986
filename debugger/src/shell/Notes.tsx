/** What the reader of the log had to say about it: recovered, unfinished, lines it could not read. */
import { run } from "../store/run";
import { useSignal } from "@preact/signals";
import { plural } from "../ui/format";

export function Notes() {
  const hidden = useSignal<string | null>(null);
  const about = run.value;
  if (!about) return null;
  const first = about.problems[0];
  const texts = [
    ...about.notes,
    ...(about.progress < 1 ? [`reading the log: ${Math.floor(about.progress * 100)}%`] : []),
    ...(about.problem_count ? [`${plural(about.problem_count, "line")} could not be read as it stands: ${first?.text ?? ""}`] : []),
  ];
  const text = texts.join(" · ");
  if (!text || hidden.value === text) return null;
  return (
    <div class="notes row" role="status">
      <span class="ellipsis grow" title={text}>
        {text}
      </span>
      <button type="button" class="link" onClick={() => (hidden.value = text)}>
        hide
      </button>
    </div>
  );
}
