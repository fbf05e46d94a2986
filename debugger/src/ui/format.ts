/** How numbers, times and texts are written. */
import { written } from "../api/exact";

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export const count = (n: number): string => whole.format(n);

/** 950, 12.3k, 4.56M: at most four characters and a unit. */
export function short(n: number): string {
  const size = Math.abs(n);
  if (size < 1000) return String(Math.round(n * 10) / 10);
  if (size < 999_950) return `${trim(n / 1000)}k`;
  return size < 999_950_000 ? `${trim(n / 1e6)}M` : `${trim(n / 1e9)}G`;
}

const trim = (n: number): string => (Math.abs(n) < 10 ? n.toFixed(2) : n.toFixed(1)).replace(/\.?0+$/, "");

/** Milliseconds as a person says them. */
export function duration(ms: number | null | undefined): string {
  if (ms == null) return "–";
  if (ms < 0) return `-${duration(-ms)}`;
  if (ms < 1) return ms === 0 ? "0ms" : `${Math.round(ms * 1000)}µs`;
  if (ms < 1000) return `${ms < 10 ? trim(ms) : Math.round(ms)}ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(2) : seconds.toFixed(1)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${pad(Math.floor(seconds % 60))}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h ${pad(minutes % 60)}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** Where a moment is from the run's first; a clock that was set back is before it. */
export const offset = (ms: number | null | undefined): string => (ms != null && ms >= 0 ? `+${duration(ms)}` : duration(ms));

const pad = (n: number): string => String(n).padStart(2, "0");

/** Dollars: two digits that say something, however small. */
export function cost(usd: number | null | undefined): string {
  if (usd == null) return "–";
  if (usd === 0) return "$0.00";
  if (Math.abs(usd) < 0.01) return `$${usd.toPrecision(2).includes("e") ? usd.toFixed(7) : usd.toPrecision(2)}`;
  return `$${usd < 10 ? usd.toFixed(3) : usd.toFixed(2)}`;
}

/** A confidence from 0 to 1; 0 is a value like every other, only null is none. */
export const confidence = (value: number | null | undefined): string => (value == null ? "–" : value.toFixed(2));

export const percent = (part: number, all: number): string => (all > 0 ? `${Math.round((part / all) * 100)}%` : "–");

export function bytes(size: number): string {
  if (size < 1024) return `${size} B`;
  if (size < 1024 ** 2) return `${trim(size / 1024)} kB`;
  return size < 1024 ** 3 ? `${trim(size / 1024 ** 2)} MB` : `${trim(size / 1024 ** 3)} GB`;
}

/** The time of day, to the millisecond, in UTC as the log has it. */
export const clock = (timestamp: string | null | undefined): string => (timestamp ?? "").slice(11, 23).replace(/[Z+-].*$/, "");

/** How long ago a moment was. */
export function ago(timestamp: string | null | undefined, now = Date.now()): string {
  const then = Date.parse(timestamp ?? "");
  if (Number.isNaN(then)) return "–";
  const seconds = Math.max(0, (now - then) / 1000);
  if (seconds < 45) return "now";
  if (seconds < 3600) return `${Math.round(seconds / 60)}m ago`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)}h ago`;
  return seconds < 86_400 * 60 ? `${Math.round(seconds / 86_400)}d ago` : (timestamp ?? "").slice(0, 10);
}

/** One line of a text, at most `length` characters. */
export function line(value: unknown, length = 160): string {
  const text = typeof value === "string" ? value : value == null ? "" : written(value);
  const flat = text.slice(0, length * 2).replace(/\s+/g, " ").trim();
  return flat.length > length ? `${flat.slice(0, length - 1)}…` : flat;
}

export const plural = (n: number, word: string): string => `${count(n)} ${word}${n === 1 ? "" : "s"}`;

/** Tokens that were read or written; null where none are told: no call takes none. */
export const used = (n: number | undefined, of: { input: number; output: number } | undefined): number | null =>
  n !== undefined && of && (of.input || of.output) ? n : null;

/** A number that may not be known, which is not 0. */
export const told = (n: number | null): string => (n === null ? "–" : count(n));
