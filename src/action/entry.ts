// Handles SIGUSR1 before anything else, so that no process of this machine can make Node open its debugger in this one.
process.on('SIGUSR1', () => {});

const { enter } = await import(/* webpackMode: "eager" */ '../supervisor/enter.ts');
const exitCode = await enter({
  // Uses the name of the file, which does not depend on the main step. A saved state does: a main step that is killed as it starts has
  // saved nothing yet, and a post step that relied on it would run the whole gate.
  isSupervised: !/(?:^|[/\\])post\.js$/.test(process.argv[1] ?? ''),
  print: (line) => process.stdout.write(`${line}\n`),
  run: async () => {
    // The bundle keeps this import: the supervisor does not load what the gate needs.
    const { runStage } = await import(/* webpackIgnore: true */ './stages.ts');
    await runStage();
  },
});
if (exitCode !== null) process.exit(exitCode);
