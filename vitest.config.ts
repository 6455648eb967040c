import { defineConfig } from 'vitest/config';

// Unit tests read the sources through the `squall-source` export condition, so no build is needed
// for them; end-to-end tests (tests/) run the built product, as a user would.
const conditions = ['squall-source', 'node', 'import', 'module', 'default'];

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
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['tests/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          // Two cores: runs that measure share the machine neither with each other nor with unit tests.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
