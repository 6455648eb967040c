import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestBroker } from '../fixtures/brokers/broker.ts';
import { BROKERS, type MatrixBroker } from '../interop/brokers.ts';
import type { Feature, Version } from '../interop/feature.ts';
import { FEATURES } from '../interop/features.ts';
import ci from '../interop/ci.json' with { type: 'json' };
import lacks from '../interop/lacks.json' with { type: 'json' };
import { type Trial, tryFeatures } from '../interop/trial.ts';

/** The whole matrix takes minutes: CI has one broker and version a feature, the one that serves it best. */
const WHOLE = process.env['SQUALL_MATRIX'] === '1';

/** `lacks.json` names what a broker does not have, as `feature` or `feature@version`, with the reason. */
const LACKS: Readonly<Record<string, Readonly<Record<string, string>>>> = lacks;
/** `ci.json`: features by `broker@version`. */
const CI: Readonly<Record<string, readonly string[]>> = ci;

describe.each(BROKERS.map((make) => [make.id, make] as const))('%s', (_id, make) => {
  let missing: string | null = null;
  let broker: TestBroker | null = null;

  beforeAll(async () => {
    missing = await make.missing();
    if (missing === null) broker = await make.start();
  }, 300_000);

  afterAll(async () => {
    await broker?.dispose();
  });

  for (const version of make.versions) {
    const features = FEATURES.filter((feature) => isTried(make, feature, version));
    if (features.length === 0) continue;
    describe(`MQTT ${version}`, () => {
      let trial: Trial | null = null;

      beforeAll(async () => {
        if (broker !== null) trial = await tryFeatures(broker, version, features);
      }, 120_000);

      afterAll(async () => {
        await trial?.end();
      });

      test.for(features.map((feature) => [feature.title, feature] as const))(
        '%s',
        async ([, feature], { skip }) => {
          if (missing !== null) skip(missing);
          await expect(check(trial, feature)).resolves.toBeUndefined();
        },
      );
    });
  }
});

async function check(trial: Trial | null, feature: Feature): Promise<void> {
  if (trial === null) throw new Error('the run did not come to its end');
  await feature.check(trial.outcomeOf(feature));
}

function isTried({ id }: MatrixBroker, feature: Feature, version: Version): boolean {
  if (!WHOLE) return CI[`${id}@${version}`]?.includes(feature.id) ?? false;
  const lacking = LACKS[id] ?? {};
  const isLacking = feature.id in lacking || `${feature.id}@${version}` in lacking;
  return feature.versions.includes(version) && !isLacking;
}
