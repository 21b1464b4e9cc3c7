import type { Command } from 'commander';

/** Defines `validate`: reads evals files and reports every finding. Only check modules are loaded, each in a process of its own. */
export function defineValidateCommand(command: Command, setExitCode: (code: number) => void): void {
  command
    .argument('<files...>', 'paths or glob patterns of evals files')
    .option('--surface <file>', 'A surface file, for warnings about the tools that it offers to models.')
    .addHelpText('after', '\nExit codes: 0 valid · 2 invalid')
    .configureOutput({
      // Explains `--evals`, which is a flag of `run`.
      outputError: (text, write) => {
        const isEvals = text.includes("unknown option '--evals'");
        write(isEvals ? `${text}Give the files without a flag: mcp-eval-ci validate evals/*.evals.yaml\n` : text);
      },
    })
    .action(async (patterns: string[], { surface }: { surface?: string }) => {
      const { validateFiles } = await import('./validate-files.ts');
      await validateFiles(patterns, surface);
      setExitCode(0);
    });
}
