// First of all, so that no process of this machine can have Node open its debugger in this one.
process.on('SIGUSR1', () => {});

const { enter } = await import('../supervisor/enter.ts');
const exitCode = await enter({
  // By the name of the file, which is there whatever became of the main step. Its state is not: a main step that is killed as it
  // starts has saved nothing yet, and a post step that asked for something saved would run the whole gate.
  isSupervised: !/(?:^|[/\\])post\.js$/.test(process.argv[1] ?? ''),
  print: (line) => process.stdout.write(`${line}\n`),
  run: async () => {
    const { runStage } = await import('./stages.ts');
    await runStage();
  },
});
if (exitCode !== null) process.exit(exitCode);
