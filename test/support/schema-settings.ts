// The same setting as in src/supervisor/enter.ts. The tests build many schemas and use each for only a few values.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
