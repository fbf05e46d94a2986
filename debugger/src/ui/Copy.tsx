import { useState } from "preact/hooks";
import { say } from "../store/notices";

/** Puts a text on the clipboard, also where the page has no permission for the asynchronous one. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "sr";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

export function CopyButton({ text, label, class: name = "" }: { text: string; label: string; class?: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    const worked = await copyText(text);
    setDone(worked);
    say(worked ? "Copied" : "The browser did not let the page copy");
    setTimeout(() => setDone(false), 1200);
  };
  return (
    <button type="button" class={`button ghost copy ${name}`} aria-label={label} title={label} onClick={copy}>
      {done ? "Copied" : "Copy"}
    </button>
  );
}
