import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// `npm run dev` serves the page from its sources and passes the API on to a running Callboard.
const callboard = process.env.CALLBOARD_URL ?? 'http://127.0.0.1:8377'

export default defineConfig({
  plugins: [react(), tailwindcss()],
  resolve: { alias: { '@': new URL('./src', import.meta.url).pathname } },
  build: {
    outDir: 'dist',
    target: 'es2023',
    // The page is served under a strict Content-Security-Policy: no inlined data URIs.
    assetsInlineLimit: 0,
    license: { fileName: 'licenses.md' },
    reportCompressedSize: false,
  },
  server: {
    host: '127.0.0.1',
    proxy: { '/api': { target: callboard, changeOrigin: true, headers: { origin: callboard } } },
  },
})
