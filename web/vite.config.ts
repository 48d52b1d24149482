import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

// `npm run dev` serves the page from its sources and forwards the API to a running Callboard.
const callboard = process.env.CALLBOARD_URL ?? 'http://127.0.0.1:8377'

/** Writes a compressed copy beside each text asset, so that the server need not compress. */
const compressed: Plugin = {
  name: 'compressed',
  apply: 'build',
  writeBundle({ dir = 'dist' }, bundle) {
    for (const name of Object.keys(bundle)) {
      if (!/\.(?:js|css|svg|html)$/.test(name)) continue
      const file = join(dir, name)
      writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
    }
  },
}

export default defineConfig({
  plugins: [react(), tailwindcss(), compressed],
  resolve: { alias: { '@': new URL('./src', import.meta.url).pathname } },
  build: {
    outDir: 'dist',
    target: 'es2023',
    // The strict Content-Security-Policy forbids data URIs.
    assetsInlineLimit: 0,
    license: { fileName: 'licenses.md' },
    reportCompressedSize: false,
  },
  server: {
    host: '127.0.0.1',
    proxy: { '/api': { target: callboard, changeOrigin: true, headers: { origin: callboard } } },
  },
})
