import { defineConfig, mergeConfig } from 'vitest/config'
import site from './vite.config.ts'

// Only component tests run in jsdom. The files of a worker share modules and jsdom, because creating
// both took most of the time. So a test must not leave state behind.
export default mergeConfig(
  site,
  defineConfig({
    test: {
      isolate: false,
      // The default leaves one core unused, which is half of two.
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
