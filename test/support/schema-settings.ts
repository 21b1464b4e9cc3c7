// As src/supervisor/enter.ts has it in the command and the action. The tests make many schemas for a few values each.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
