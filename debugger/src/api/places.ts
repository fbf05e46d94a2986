/** Where values of events are in answers: they are read exactly (see `exact`). */

const under = (place: string, places: readonly string[]): string[] => places.map((one) => `${place}.${one}`);

export const MESSAGE = under("parts.*", ["arguments", "output", "value"]);
export const EXCHANGES = under("*", ["request", "response.body", "error"]);
export const EVENT = ["event.data", ...under("exchanges", EXCHANGES)];
export const CONVERSATION = under("messages.*", MESSAGE);
export const CALL = [...under("prompt.*", MESSAGE), ...under("answers.*", MESSAGE), "tools.*.definition", "params"];
export const CALL_DIFF = [...under("parts.*.left", MESSAGE), ...under("parts.*.right", MESSAGE), ...under("params.*", ["left", "right"])];
export const COMPARE = under("differences.*.fields.*", ["left", "right"]);
export const SQL = ["rows"];
