import { defineConfig, mergeConfig } from 'vitest/config'
import site from './vite.config.ts'

// What has no React needs no browser: only tests of components pay for one. The files that a worker runs share their modules
// and that browser: most of the time went into making both anew. So a test leaves nothing behind that another one could read.
export default mergeConfig(
  site,
  defineConfig({
    test: {
      isolate: false,
      // The default leaves one core to the terminal, which is half of two.
      maxWorkers: '100%',
      restoreMocks: true,
      testTimeout: 60_000,
      projects: [
        { extends: true, test: { name: 'system', environment: 'node', include: ['src/**/*.test.ts'] } },
        {
          extends: true,
          test: {
            name: 'page',
            environment: 'jsdom',
            include: ['src/**/*.test.tsx', 'host/**/*.test.tsx'],
            setupFiles: ['src/test-setup.ts'],
          },
        },
      ],
    },
  }),
)
