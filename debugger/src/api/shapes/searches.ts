/** Searches. */

import type { Row } from "./events";

export interface Search {
  rows: Row[];
  next: number | null;
  matches: number;
  scanned: number;
  progress: number;
  bins: number[];
}

export interface SearchHelp {
  fields: string[];
  types: string[];
  values: Record<string, string[]>;
  tables: Record<string, string[]>;
}
