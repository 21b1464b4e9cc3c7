import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { renderActionMetadata, renderInputs, renderVariables } from '../../scripts/option-tables.ts';
import { ConfigurationError } from '../../src/base/errors.ts';
import { collectCompletions, renderCompletion } from '../../src/cli/completion.ts';
import { completeBooleanFlags } from '../../src/cli/boolean-flags.ts';
import { addGateOptions, readGateFlags } from '../../src/cli/gate-options.ts';
import { listKnownSecrets } from '../../src/gate/options.ts';
import { openGroup } from '../../src/gate/options/define-option.ts';
import { findCommandFlags, listFlags, listInputs } from '../../src/gate/options/list.ts';
import { gateOptions } from '../../src/gate/options/schema.ts';
import { createOptionTable, parseOptions } from '../../src/gate/options/table.ts';
import { choice, duration, flag, lines, optionalSecret, optionalText, secrets } from '../../src/gate/options/values.ts';

const defineOption = openGroup('Reports');

/** Options of every shape, none of which the gate has. */
const table = createOptionTable(
  {
    paperSize: defineOption({
      schema: choice('paper size', ['a4', 'a5']),
      text: 'The size of a page. `a4` is twice as large as `a5`.',
      default: 'a4',
      commands: ['run', 'merge'],
    }),
    footnotes: defineOption({
      schema: lines,
      hint: '<text>',
      text: 'Footnotes to print with `in-colour`. One per line.',
      rules: [
        {
          excludes: ['paper-size: a5', 'in-colour'],
          code: 'no-footnotes',
          message: 'have no room on {paper-size}; leave out {found}',
        },
      ],
    }),
    inColour: defineOption({
      schema: flag,
      text: 'Whether to print in colour: `true` or `false`.',
      default: 'false',
    }),
    printerKey: defineOption({
      schema: optionalSecret,
      hint: '<key>',
      text: 'The key of the printer. Take it from a secret.',
      variables: ['PRINTER_KEY', 'OLD_PRINTER_KEY'],
      rules: [
        { isRequired: true, when: ['in-colour'], unless: ['patience'], code: 'missing-key', message: 'is needed' },
      ],
    }),
    trayKeys: defineOption({
      schema: secrets('tray=key'),
      text: 'Keys of trays, each as `tray=key`. One per line.',
      rules: [{ needs: ['printer-key', 'title'], code: 'needs-printer-key', message: 'open no printer' }],
    }),
    patience: defineOption({
      schema: duration,
      text: 'How long to wait for paper, such as `5m`. It counts towards nothing.',
      default: '1m',
      isFlagOnly: true,
      isEvalsKey: true,
    }),
    title: defineOption({
      schema: optionalText,
      hint: '<text>',
      text: 'The title of the first page.',
      implied: (texts) => (texts['in-colour'] === 'true' ? 'Rainbow' : ''),
      runnerDefault: '${{ github.job }}',
      commands: ['run', 'publish'],
    }),
  },
  {
    patience: ({ patience }) =>
      patience > 600_000 ? [{ input: 'patience', code: 'too-patient', message: 'is too long' }] : [],
  },
);

const { options } = table;
const names = (found: ReadonlyArray<{ name: string }>) => found.map(({ name }) => name);

function createCommand(): Command {
  const program = new Command('mcp-eval-ci').exitOverride();
  addGateOptions(program.command('run').exitOverride(), listFlags('run', options));
  return program;
}

function readFlags(...words: string[]): Record<string, string> {
  const [command] = createCommand().commands;
  if (command === undefined) throw new Error('There is no command.');
  command.parse(completeBooleanFlags(words, command), { from: 'user' });
  return readGateFlags(command.opts(), { OLD_PRINTER_KEY: 'from-a-variable' }, listFlags('run', options), options);
}

function readIssues(texts: Record<string, string>, command: 'run' | 'merge' = 'run'): string[] {
  try {
    parseOptions(table, texts, () => command);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.issues.map(({ input, code, message }) => `${input} ${message} (${code})`);
  }
}

describe('an option that is defined', () => {
  it('has a flag, with its help, default and variables', () => {
    const help = (createCommand().commands[0]?.helpInformation() ?? '').replaceAll(/\s+/g, ' ');
    for (const line of [
      '--paper-size <a4|a5> The size of a page. [a4]',
      '--footnotes <text> Footnotes to print with --in-colour. May be given again.',
      '--in-colour [bool] Whether to print in colour: true or false. [false]',
      '--printer-key <key> The key of the printer; better given in the variable PRINTER_KEY or OLD_PRINTER_KEY.',
      '--tray-keys <tray=key> Keys of trays, each as tray=key. May be given again.',
      '--patience <duration> How long to wait for paper, such as 5m. [1m]',
    ]) {
      expect(help).toContain(line);
    }
    expect(help).not.toContain('--title');
  });

  it('is completed by shells, unless the runner fills it in', async () => {
    const script = renderCompletion('bash', 'mcp-eval-ci', await collectCompletions(createCommand()));
    expect(script).toContain("run) words='--paper-size --footnotes --in-colour --printer-key --tray-keys --patience'");
  });

  it('belongs to the commands that it names', () => {
    expect(names(listFlags('merge', options))).toEqual(['paper-size']);
    expect(names(listFlags('publish', options))).toEqual(['title']);
    expect(names(listInputs('run', options))).toEqual(names(options).filter((name) => name !== 'patience'));
  });

  it('is an input of the action', () => {
    const { inputs } = parse(renderActionMetadata('run', options));
    expect(inputs).toEqual({
      'paper-size': {
        description: 'The size of a page. `a4` is twice as large as `a5`.',
        required: false,
        default: 'a4',
      },
      footnotes: { description: 'Footnotes to print with `in-colour`. One per line.', required: false },
      'in-colour': {
        description: 'Whether to print in colour: `true` or `false`.',
        required: false,
        default: 'false',
      },
      'printer-key': { description: 'The key of the printer. Take it from a secret.', required: false },
      'tray-keys': { description: 'Keys of trays, each as `tray=key`. One per line.', required: false },
      title: { description: 'The title of the first page.', required: false, default: '${{ github.job }}' },
    });
  });

  it('has its rows in the docs', () => {
    expect(renderInputs(options, '--')).toContain(
      '| `--patience` | How long to wait for paper, such as `5m`. It counts towards nothing. | `1m` |',
    );
    expect(renderVariables(options).split('\n').slice(2)).toEqual([
      '| `--printer-key` | `PRINTER_KEY`, else `OLD_PRINTER_KEY` |',
    ]);
  });

  it('is parsed from flags: lists add lines, booleans need no value, secrets come from variables', () => {
    const texts = readFlags('--footnotes', 'a', '--footnotes', 'b', '--tray-keys', '1=x', '--patience', '2m');
    const { printerKey, trayKeys, ...values } = parseOptions(table, texts, () => 'run');
    expect(values).toEqual({
      paperSize: 'a4',
      footnotes: ['a', 'b'],
      inColour: false,
      patience: 120_000,
      title: null,
    });
    expect([printerKey?.reveal(), trayKeys.get('1')?.reveal()]).toEqual(['from-a-variable', 'x']);
    expect(parseOptions(table, readFlags('--in-colour'), () => 'run')).toMatchObject({
      inColour: true,
      title: 'Rainbow',
    });
  });

  it.each([
    [{ 'paper-size': 'a3' }, 'paper-size "a3" is not a paper size; write a4 or a5 (bad-paper-size)'],
    [{ 'in-colour': 'yes' }, 'in-colour "yes" is not a boolean; write true or false (bad-in-colour)'],
    [{ 'tray-keys': 'k1' }, 'tray-keys line 1 is not tray=key (bad-tray-keys)'],
    [{ footnotes: 'a', 'paper-size': 'a5' }, 'footnotes have no room on a5; leave out `paper-size: a5` (no-footnotes)'],
    [{ 'in-colour': 'true' }, 'printer-key is needed (missing-key)'],
    [{ 'tray-keys': '1=x' }, 'tray-keys open no printer (needs-printer-key)'],
    [{ patience: '11m' }, 'patience is too long (too-patient)'],
  ])('is refused in its words: %j', (texts, issue) => {
    expect(readIssues(texts)).toEqual([issue]);
  });

  it('contradicts no other where its rules do not apply', () => {
    expect(readIssues({ 'in-colour': 'true', patience: '2m', 'tray-keys': '1=x' })).toEqual([]);
    expect(readIssues({ footnotes: 'a', 'in-colour': 'true' }, 'merge')).toEqual([]);
  });

  it('is redacted if it is a secret', () => {
    const texts = { 'printer-key': 'k1', 'tray-keys': '1=k2\nk3', footnotes: 'a=b' };
    expect(listKnownSecrets(texts, {}, options).map((secret) => secret.reveal())).toEqual(['k1', 'k2', 'k3']);
  });

  it('is explained where it is written as an input, and only flags have it', () => {
    expect(findCommandFlags({ patience: '2m' }, options)).toEqual([
      {
        input: 'patience',
        code: 'command-flag',
        message:
          'is no input of the action; write the key `patience` in the evals file, or run the command with `--patience` (https://github.com/your-org/mcp-eval-ci/blob/v0.1.0/docs/inputs.md#flags-of-the-command)',
      },
    ]);
  });
});

describe('the rules of options', () => {
  it('name options of the gate', () => {
    const known = new Set(names(gateOptions.options));
    const conditions = Object.values(gateOptions.definitions).flatMap(({ rules = [] }) =>
      rules.flatMap(({ needs = [], excludes = [], when = [], unless = [] }) => [needs, excludes, when, unless].flat()),
    );
    expect(conditions.length).toBeGreaterThan(40);
    expect(conditions.filter((condition) => !known.has(condition.split(': ')[0] ?? ''))).toEqual([]);
  });
});
