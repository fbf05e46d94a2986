/** Server-sent events out of a fetch answer: EventSource cannot send a POST. */
export interface Sent {
  event: string;
  data: unknown;
}

export async function* sentEvents(answer: Response): AsyncGenerator<Sent> {
  if (!answer.body) return;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value.replaceAll("\r\n", "\n");
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const sent = parsed(rest.slice(0, end));
      rest = rest.slice(end + 2);
      if (sent) yield sent;
    }
  }
}

function parsed(block: string): Sent | null {
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
  }
  return data.length ? { event, data: JSON.parse(data.join("\n")) as unknown } : null;
}
