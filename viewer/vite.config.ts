import { defineConfig } from 'vite';

// Four files of fixed names: the program knows them, and puts script and style into one page for --html.
export default defineConfig({
  base: './',
  build: {
    target: 'es2021',
    cssCodeSplit: false,
    modulePreload: false,
    chunkSizeWarningLimit: 2000,
    rollupOptions: {
      output: {
        inlineDynamicImports: true,
        entryFileNames: 'viewer.js',
        assetFileNames: (asset) => (asset.names?.[0]?.endsWith('.css') ? 'viewer.css' : '[name][extname]'),
      },
    },
  },
  test: { include: ['src/**/*.test.ts'] },
} as never);
