/** In place of an answer that is still being worked out; an answer that comes at once never shows it. */
export function Waiting() {
  return (
    <p class="empty waiting-note" role="status">
      Working it out…
    </p>
  );
}
