#!/usr/bin/env node
// Imports nothing but types until the version is known to be good: a module that an old Node cannot parse would
// otherwise answer with a syntax error in somebody else's code.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`mcp-eval-ci needs Node.js 22.19 or newer; this is ${process.version}.\n`);
  process.exit(2);
}

const { runProgram } = await import('./program.ts');
process.exit(await runProgram(process.argv.slice(2)));
