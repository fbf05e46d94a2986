/** What the server answers. Times in `ms` count from the run's earliest timestamp; costs are US dollars; null
 * is "not known" and never 0. */

export type * from "./comparisons";
export type * from "./conversations";
export type * from "./events";
export type * from "./runs";
export type * from "./searches";
export type * from "./states";
