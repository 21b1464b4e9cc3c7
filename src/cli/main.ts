#!/usr/bin/env node
// Runs first, so that no process of this machine can make Node open its debugger in this process.
process.on('SIGUSR1', () => {});

// Imports only types until the version is checked. An old Node would otherwise report a syntax error in the code of a library.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`mcp-eval-ci needs Node.js 22.19 or newer; this is ${process.version}.\n`);
  process.exit(2);
}

// Answers before anything else is loaded.
if (process.argv.length === 3 && ['--version', '-V'].includes(process.argv[2] ?? '')) {
  const { generator } = await import('../base/version.ts');
  process.stdout.write(`${generator.version}\n`);
  process.exit(0);
}

const asksForHelp = process.argv.length === 4 && ['--help', '-h'].includes(process.argv[3] ?? '');
const { enter } = await import('../supervisor/enter.ts');
const exitCode = await enter({
  // Help starts no server, and a process that watches starts each run as its own process.
  isSupervised: process.argv[2] === 'run' && !asksForHelp && !process.argv.includes('--watch'),
  print: (line) => process.stderr.write(`${line}\n`),
  run: async () => {
    // Limits the heap before it grows by loading the service. The gate does this itself once it knows that it runs.
    if (process.argv[2] === 'serve') (await import('../gate/host-process.ts')).limitHeapGrowth();
    const [{ runProgram }, { joinSupervisor }, { flushOutput, logLimitMs }] = await Promise.all([
      import('./program.ts'),
      import('../supervisor/supervised.ts'),
      import('../supervisor/flush-output.ts'),
    ]);
    const supervision = joinSupervisor();
    const code = await supervision.done(await runProgram(process.argv.slice(2), supervision));
    await flushOutput({ limitMs: supervision.marker === null ? null : logLimitMs });
    process.exit(code);
  },
});
if (exitCode !== null) process.exit(exitCode);
