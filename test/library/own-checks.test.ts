import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ConfigurationError, formatConfigurationIssue } from '../../src/base/errors.ts';
import { createChartServer } from '../../examples/library/image-check/server.ts';
import { createOwnCheck } from '../../src/checks/create-own-check.ts';
import { defineCheck, fail, pass } from '../../src/entries/checks.ts';
import { runGate } from '../../src/library/functions.ts';
import { compareText } from '../../src/suite/findings.ts';
import { plainServerCommand } from '../support/servers/bundled-servers.ts';
import { expectNothingLeft } from '../support/process/active-resources.ts';
import { createWorkspace } from '../support/workspace.ts';

const answeredAs = defineCheck({
  name: 'answeredAs',
  schema: {
    type: 'object',
    properties: { text: { type: 'string' }, times: { type: 'integer', minimum: 1 } },
    required: ['text'],
    additionalProperties: false,
  },
  judge: ({ text, times = 1 }: { text: string; times?: number }, { toolResults }) => {
    const found = toolResults.filter((result) => result.text === text).length;
    return found === times ? pass(`${found} of them.`) : fail(`${found} results are ${text}, expected ${times}`);
  },
});

const noArguments = { type: 'object', additionalProperties: false } as const;

/** Checks that are wrong in every way that only a run shows. */
const broken = [
  defineCheck({ name: 'returnsNonsense', schema: noArguments, judge: () => JSON.parse('{"state":"great"}') }),
  defineCheck({
    name: 'throwsText',
    schema: noArguments,
    judge: () => {
      // oxlint-disable-next-line no-throw-literal, typescript/only-throw-error -- a check may throw anything
      throw 'no reason';
    },
  }),
  defineCheck({
    name: 'throwsTraps',
    schema: noArguments,
    judge: () => {
      // oxlint-disable-next-line no-throw-literal, typescript/only-throw-error -- a check may throw anything
      throw new Proxy({}, { getPrototypeOf: () => JSON.parse('no reason') });
    },
  }),
  defineCheck({
    name: 'neverReturns',
    schema: noArguments,
    timeoutMs: 20,
    judge: async () => await new Promise(() => {}),
  }),
  defineCheck({
    name: 'changesEvidence',
    schema: noArguments,
    judge: (_, evidence) => {
      Object.assign(evidence, { toolResults: null });
      return pass('it changed its copy');
    },
  }),
];

const call = { toolCall: 'count' };
const asserting = (title: string, ...assertions: unknown[]) => ({
  title,
  steps: [call, ...assertions.map((assert) => ({ assert }))],
});

expectNothingLeft();

describe("checks of one's own", () => {
  it('are judged and reported by their names, and only a judgement decides', async () => {
    await using workspace = await createWorkspace({});
    const report = await runGate({
      serverCommand: plainServerCommand,
      cwd: workspace.path,
      checks: [answeredAs, ...broken],
      tests: [
        asserting('short', 'changesEvidence', { answeredAs: '1' }),
        asserting('long', { type: 'answeredAs', text: '1', times: 1 }, { custom: 'answeredAs', value: '1' }),
        asserting('wrapped', { not: { answeredAs: { text: '1', times: 2 } } }, { anyOf: [{ answeredAs: '1' }] }),
        asserting('differs', { answeredAs: '1', times: 2 }),
        asserting('advisory', { answeredAs: '2', role: 'advisory' }),
        asserting('nonsense', 'returnsNonsense'),
        asserting('throws', { not: 'throwsText' }),
        asserting('throws traps', 'throwsTraps'),
        asserting('late', 'neverReturns'),
      ],
    });
    const results = report.cases.map(({ title, passed, total, failures }) => [
      `${title}: ${passed} of ${total}`,
      ...(failures ?? []).map(({ reasons }) => reasons).flat(),
    ]);
    const nonsense =
      'returnsNonsense: not measured: it returned {"state":"great"}, which is no judgement; return `pass(reason)`, `fail(reason)` or `leaveUnmeasured(reason)`.';
    expect(results.toSorted(([a = ''], [b = '']) => compareText(a, b))).toEqual([
      ['advisory: 1 of 1'],
      ['differs: 0 of 1', 'answeredAs: 1 results are 1, expected 2.'],
      ['late: 0 of 0', 'neverReturns: not measured: it has not answered for 20 ms.'],
      ['long: 1 of 1'],
      ['nonsense: 0 of 0', nonsense],
      ['short: 1 of 1'],
      ['throws traps: 0 of 0', 'throwsTraps: not measured: the check failed: something without a description.'],
      ['throws: 0 of 0', 'not: throwsText: not measured: the check failed: no reason.'],
      ['wrapped: 1 of 1'],
    ]);
    expect(report.verdict.outcome).not.toBe('passed');
  });

  it('are refused with the location of each mistake in the file', async () => {
    await using workspace = await createWorkspace({
      'notes.evals.yaml': [
        'suite: Notes',
        'checks: [anweredAs]',
        'cases:',
        '  - title: One',
        '    steps:',
        '      - toolCall: count',
        '      - assert: { answeredAs: 5 }',
        '      - assert: { answeredAs: { text: a, times: 0 } }',
        '      - assert: { not: { type: answeredAs, times: 1 } }',
        '      - assert: { toolResultContain: a }',
        '',
      ].join('\n'),
    });
    const options = { serverCommand: plainServerCommand, evals: 'notes.evals.yaml', cwd: workspace.path };
    expect(await listIssues({ ...options, checks: [answeredAs] })).toEqual([
      'notes.evals.yaml:2:10: Unknown assertion `anweredAs`; did you mean `answeredAs`? (unknown-assertion)',
      'notes.evals.yaml:7:31: `answeredAs`: `text` must be string (bad-check-argument)',
      'notes.evals.yaml:8:49: `answeredAs`: `times` must be >= 1 (bad-check-argument)',
      "notes.evals.yaml:9:24: `answeredAs`: it must have required property 'text' (bad-check-argument)",
      'notes.evals.yaml:10:17: Unknown assertion `toolResultContain`; did you mean `toolResultContains`? (unknown-assertion)',
    ]);
    const taken = defineCheck({ name: 'noToolErrors', schema: noArguments, judge: () => pass('x') });
    const inline = { ...options, evals: [], tests: [asserting('a')] };
    expect(await listIssues({ ...inline, checks: [taken, answeredAs, answeredAs] })).toEqual([
      'checks: has the check noToolErrors, and the gate has a check of this name; choose another (check-name-taken)',
      'checks: has the check answeredAs, and two checks have this name; choose another (check-name-taken)',
    ]);
  });

  it('compare images with a library of their own, in less than 20 lines of a file', async () => {
    const directory = fileURLToPath(new URL('../../examples/library/image-check', import.meta.url));
    const code = await readFile(`${directory}/image-check.ts`, 'utf8');
    expect(/^export const .*?^}\);$/ms.exec(code)?.[0].split('\n').length).toBeLessThan(20);
    await using workspace = await createWorkspace({});
    const report = await runGate({
      server: createChartServer,
      evals: '*.evals.yaml',
      cwd: directory,
      reportDir: workspace.path,
    });
    expect(report.cases.map(({ title, outcome, failures }) => [title, outcome, failures[0]?.reasons])).toEqual([
      ['Draws falling bars', 'failed', ['looksLike: 4480 of 9600 pixels differ from rising.png, expected at most 0.']],
      ['Draws rising bars', 'passed', undefined],
      ['Draws almost the same bars', 'passed', undefined],
    ]);
  });

  it.each([
    [{ name: 'two words' }, 'is a word such as `imageLooksLike`, not "two words"'],
    [{ schema: true }, '`schema` of the check answeredAs must be a JSON Schema of an object'],
    [{ judge: null }, '`judge` of the check answeredAs must be a function, not null'],
    [{ timeoutMs: 0 }, '`timeoutMs` of the check answeredAs must be a number of milliseconds up to 600000, not 0'],
    [{ final: 'maybe' }, '`final` of the check answeredAs must be `none`'],
  ])('cannot be defined with %j', (wrong, message) => {
    const define = () => createOwnCheck({ ...answeredAs, ...wrong });
    expect(define).toThrow(message);
    expect(define).toThrow(ConfigurationError);
  });
});

async function listIssues(options: Parameters<typeof runGate>[0]): Promise<string[]> {
  try {
    await runGate(options);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.issues.map(formatConfigurationIssue);
  }
}
