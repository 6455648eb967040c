import { openProbe, type Probe, ProbeError } from '../src/index.ts';
import type { Plan } from '@squall/core/plan';

type Source = Plan['probes'][number]['source'];

/** Probes of servers need nothing of the run. */
const NO_RUN = {} as Parameters<typeof openProbe>[1];

export const open = (source: Source): Probe => openProbe(source, NO_RUN);

/** The values of one reading, by figure. */
export async function valuesOf(probe: Probe): Promise<Record<string, number>> {
  const reading = await probe.read(AbortSignal.timeout(20_000));
  return Object.fromEntries([...reading].map(([name, { value }]) => [name, value]));
}

/** Why a reading fails: the reason that is counted, and all that is said. */
export async function failureOf(
  probe: Probe,
  signal = AbortSignal.timeout(20_000),
): Promise<{ reason: string; message: string }> {
  try {
    const reading = await probe.read(signal);
    throw new Error(`it was read: ${JSON.stringify([...reading])}`);
  } catch (error) {
    if (!(error instanceof ProbeError)) throw error;
    return { reason: error.reason, message: error.message };
  }
}
