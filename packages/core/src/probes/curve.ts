/** Values at moments of a run's timeline (µs). */
export type Curve = readonly (readonly [atUs: number, value: number])[];

/** Points of a curve. */
const MAX_POINTS = 4_096;

/** The curve with a point more; beyond the limit about half of them go, evenly over its whole time. */
export function withPoint(curve: Curve, atUs: number, value: number): Curve {
  const points: Curve = [...curve, [atUs, value]];
  if (points.length <= MAX_POINTS) return points;
  const apartUs = (2 * (atUs - (points[0]?.[0] ?? 0))) / MAX_POINTS;
  let lastUs = Number.NEGATIVE_INFINITY;
  return points.filter(([us], index) => {
    if (us - lastUs < apartUs && index < points.length - 1) return false;
    lastUs = us;
    return true;
  });
}
