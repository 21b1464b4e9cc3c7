import { type Command, Option } from 'commander';
import { ConfigurationError, describeError, readErrorCode } from '../base/errors.ts';
import { readTextFile } from '../base/files.ts';
import { convertFiles, type SourceFormat, sourceFormats, type SourceText } from '../convert/convert.ts';
import { escapeTerminalText } from '../report/escape/log.ts';
import { writeOut } from './write-out.ts';

interface ConvertFlags {
  from: SourceFormat;
  out?: string;
  force?: boolean;
}

/** Defines `convert`: files of other formats as an evals file. */
export function defineConvertCommand(command: Command, setExitCode: (code: number) => void): void {
  command
    .argument('<files...>', 'one file of the format, or several of mcp-assert')
    .addOption(
      new Option(`--from <${sourceFormats.join('|')}>`, 'What the files are.')
        .choices([...sourceFormats])
        .makeOptionMandatory(),
    )
    .option('--out <file>', 'Where to write it. [stdout]')
    .option('--force', 'Replace a file that is there.')
    .addHelpText(
      'after',
      `
Exit codes: 0 written · 2 something cannot be converted exactly; nothing is written

Examples:
  $ mcp-eval-ci convert --from service .mcpjam/evals/notes.yaml --out notes.evals.yaml
  $ mcp-eval-ci convert --from mcp-assert evals/*.yaml --out notes.evals.yaml
  $ mcp-eval-ci convert --from promptfoo promptfooconfig.yaml`,
    )
    .action(async (files: string[], flags: ConvertFlags) => {
      const [first, ...others] = await Promise.all(files.map(readSource));
      if (first === undefined) return;
      const { text, findings, notes } = convertFiles(flags.from, [first, ...others]);
      if (text === null) throw new ConfigurationError(findings);
      for (const note of notes) process.stderr.write(`Note: ${escapeTerminalText(note)}\n`);
      await writeOut(text, flags);
      setExitCode(0);
    });
}

async function readSource(file: string): Promise<SourceText> {
  const text = await readTextFile(file).catch((error: unknown) => {
    const message = `cannot be read (${readErrorCode(error) ?? describeError(error)}); check the path`;
    throw new ConfigurationError([{ file, code: 'unreadable-file', message }], { cause: error });
  });
  return { file, text };
}
