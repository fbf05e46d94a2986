/** Places that stand so close that marks at them would hide the curve. */
const close = (places: number[]): boolean =>
  places.length > 24 || places.some((place, n) => n > 1 && place - (places[n - 2] as number) < 5);

/** A fact's confidence over the run: steps, for it holds until it changes. The whole width is the whole run. */
import { firstSeq, goTo, lastSeq } from "../store/run";
import { confidence } from "../ui/format";

const [WIDE, TALL, EDGE] = [150, 34, 4];

export function Spark({ history, upTo }: { history: [number, number | null, string | null][]; upTo: number }) {
  const [first, last] = [firstSeq.value, Math.max(lastSeq.value, firstSeq.value + 1)];
  const known = history.filter((one): one is [number, number, string | null] => one[1] !== null);
  if (!known.length) return <span class="spark" />;
  const x = (at: number): number => EDGE + ((at - first) / (last - first)) * (WIDE - 2 * EDGE);
  const y = (value: number): number => EDGE + (1 - Math.max(0, Math.min(1, value))) * (TALL - 2 * EDGE);
  const [start] = known as [[number, number, string | null]];
  let path = `M${x(start[0])} ${y(start[1])}`;
  for (const [at, value] of known.slice(1)) path += `H${x(at).toFixed(1)}V${y(value).toFixed(1)}`;
  path += `H${x(upTo).toFixed(1)}`;
  const words = known.map(([at, value]) => `${confidence(value)} at ${at}`).join(", ");
  return (
    <svg class="spark" width={WIDE} height={TALL} role="img" aria-label={`Confidence: ${words}`}>
      <line x1={EDGE} x2={WIDE - EDGE} y1={y(0)} y2={y(0)} class="base" />
      <line x1={EDGE} x2={WIDE - EDGE} y1={y(1)} y2={y(1)} class="base" />
      <path d={path} class="curve" />
      {close(known.map(([at]) => x(at))) ? null : known.map(([at, value], n) => (
        <circle key={n} cx={x(at)} cy={y(value)} r="2.5" class="dot" onClick={() => goTo(at)}>
          <title>
            #{at}: {confidence(value)}
          </title>
        </circle>
      ))}
    </svg>
  );
}
