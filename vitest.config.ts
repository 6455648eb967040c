import { configDefaults, defineConfig } from 'vitest/config';

// Unit tests read the sources through the `squall-source` export condition, so no build is needed
// for them; end-to-end tests (tests/) run the built product, as a user would.
const conditions = ['squall-source', 'node', 'import', 'module', 'default'];

/** Runs that load the machine, or must be over within a time, share it with nobody. */
const ALONE = [
  'tests/e2e/load.test.ts',
  'tests/e2e/ledger-fleet.test.ts',
  'tests/e2e/quickstart.test.ts',
  'tests/e2e/redis.test.ts',
  'tests/e2e/resume.test.ts',
];
const PATIENCE = { testTimeout: 120_000, hookTimeout: 60_000 };

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['packages/*/test/**/*.test.ts', 'scripts/**/*.test.ts'],
          // Left alone, a machine with two cores gets one.
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['tests/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...ALONE],
          ...PATIENCE,
          // Most of their time is waiting: two at once share two cores well.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e-alone',
          include: ALONE,
          ...PATIENCE,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
