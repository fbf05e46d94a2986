/** Rows of the opened run's events, in pages, as far as they have been in sight. */
import { signal } from "@preact/signals";
import { api } from "../api/client";
import type { Row } from "../api/shapes";

const PAGE = 200;
const KEPT = 40;
/** Milliseconds a place must be in sight before its rows are asked for, while the list is being dragged along. */
const SETTLED = 70;

export class Pages {
  private readonly pages = new Map<number, Row[]>();
  private wanted: number[] = [];
  private busy = false;
  private key = "";
  private moved = -Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Grows when rows have come. */
  readonly version = signal(0);

  open(key: string): void {
    if (key === this.key) return;
    this.key = key;
    this.pages.clear();
    this.wanted = [];
  }

  row(seq: number): Row | null {
    const rows = this.pages.get(Math.floor(seq / PAGE));
    if (!rows) return null;
    const first = rows[0]?.seq ?? 0;
    const near = rows[seq - first];
    return near?.seq === seq ? near : (rows.find((row) => row.seq === seq) ?? null);
  }

  /** The log holds no such event: its rows are here, and it is not among them. */
  lacks(seq: number, last: number): boolean {
    const page = Math.floor(seq / PAGE);
    const rows = this.pages.get(page);
    return !!rows && !this.row(seq) && ((rows.at(-1)?.seq ?? 0) > seq || Math.floor(last / PAGE) > page);
  }

  /** These seqs are in sight: what is missing of them is asked for; what is held is let go of last. */
  need(seqs: number[], upTo: number): void {
    this.wanted = [];
    for (const page of new Set(seqs.map((seq) => Math.floor(seq / PAGE)))) {
      const held = this.pages.get(page);
      if (held && this.pages.delete(page)) this.pages.set(page, held);
      const full = held && ((held[held.length - 1]?.seq ?? 0) >= Math.min(upTo, page * PAGE + PAGE - 1));
      if (!full) this.wanted.push(page);
    }
    const now = performance.now();
    const still = now - this.moved > SETTLED;
    this.moved = now;
    if (this.busy || !this.wanted.length) return;
    clearTimeout(this.timer);
    if (still) void this.ask();
    else this.timer = setTimeout(() => void (this.busy || this.ask()), SETTLED);
  }

  /** Rows that came with news of a live run. */
  private async ask(): Promise<void> {
    this.busy = true;
    try {
      for (let page = this.wanted.shift(); page !== undefined; page = this.wanted.shift()) {
        const key = this.key;
        const { rows } = await api.events(key, Math.max(1, page * PAGE), page === 0 ? PAGE - 1 : PAGE);
        if (key !== this.key) continue;
        this.pages.delete(page);
        this.pages.set(page, rows.filter((row) => Math.floor(row.seq / PAGE) === page));
        if (this.pages.size > KEPT) this.pages.delete(this.pages.keys().next().value as number);
        this.version.value += 1;
        while (performance.now() - this.moved < SETTLED) await new Promise((go) => setTimeout(go, SETTLED));
      }
    } catch {
      // the next wish asks again
    } finally {
      this.busy = false;
    }
  }
}

export const pages = new Pages();
