#!/usr/bin/env node
// Stands in the package before it is built, so that the package manager can link it.
await import('../dist/start.js');
