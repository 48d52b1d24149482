import { defineConfig, mergeConfig } from 'vitest/config'
import site from './vite.config.ts'

export default mergeConfig(
  site,
  defineConfig({
    test: {
      environment: 'jsdom',
      include: ['src/**/*.test.{ts,tsx}'],
      setupFiles: ['src/test-setup.ts'],
      restoreMocks: true,
      testTimeout: 10_000,
    },
  }),
)
