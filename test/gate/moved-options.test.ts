import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/base/errors.ts';
import { listOptions, parseGateOptions, parseJudgeOptions } from '../../src/gate/options.ts';
import { movedOptions } from '../../src/gate/options/moved.ts';
import { readPolicy } from '../../src/suite/read-policy.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { createWorkspace, greenEvals } from '../support/workspace.ts';

const complete = { evals: 'evals/*.evals.yaml', 'server-command': 'node build/index.js' };

function readMessages(texts: Record<string, string>, parse = parseGateOptions): string[] {
  try {
    parse(texts);
    return [];
  } catch (error) {
    return error instanceof ConfigurationError ? error.message.split('\n') : [];
  }
}

describe('an option that has moved', () => {
  it.each([
    ['confidence', '95%', 'confidence: 95%'],
    ['retry-failed', '2', 'retryFailed: 2'],
    ['flaky', 'report', 'flaky: report'],
    ['stop-early', 'True', 'stopEarly: true'],
    ['maximum-regressions', '3', 'maximumRegressions: 3'],
    ['maximum-rate-drop', '5%', 'maximumRateDrop: 5%'],
    ['trusted-after', '5', 'probation: 5'],
    ['on-inconclusive', 'warn', 'onInconclusive: warn'],
    ['on-nothing-run', 'warn', 'onNothingRun: warn'],
    ['report-only', 'true', 'reportOnly: true'],
  ])('is refused as %s: %s and names its key, which a policy file takes as it is written', (name, text, line) => {
    expect(readMessages({ ...complete, [name]: text })).toEqual([
      `${name}: is a rule of the policy now; write \`${line}\` in the file that \`policy\` names (docs/policy.md) (moved-option)`,
    ]);
    expect(readPolicy(`${line}\n`, { file: 'p.yaml' }).findings).toEqual([]);
  });

  it.each([
    ['annotations', 'false', 'leave `annotations` out of it, as in `report-to: summary`'],
    ['annotations', 'true', 'add `annotations` to it, as in `report-to: annotations, summary`'],
    ['summary', 'FALSE', 'leave `summary` out of it, as in `report-to: annotations`'],
    [
      'comment',
      'on-failure',
      'add `comment:on-failure` to it, as in `report-to: annotations, summary, comment:on-failure`',
    ],
    ['comment', 'off', 'leave `comment` out of it, as in `report-to: annotations, summary`'],
    ['check-run', 'true', 'add `check-run` to it, as in `report-to: annotations, summary, check-run`'],
    ['open-issue-on', 'failed', 'add `issue` to it, as in `report-to: annotations, summary, issue`'],
  ])('is refused as %s: %s and shows the list that `report-to` takes', (name, text, advice) => {
    expect(readMessages({ ...complete, [name]: text })).toEqual([
      `${name}: is an entry of \`report-to\` now; ${advice} (docs/comments.md) (moved-option)`,
    ]);
    const list = /`report-to: (.+)`/.exec(advice)?.[1] ?? '';
    expect(readMessages({ ...complete, 'report-to': list })).toEqual([]);
  });

  it.each([
    ['otlp-endpoint', 'https://host', 'set OTEL_EXPORTER_OTLP_ENDPOINT'],
    ['otlp-headers', 'authorization=Bearer hunter2', 'set OTEL_EXPORTER_OTLP_HEADERS'],
    ['mcp-server', 'search', '`mcp-config: .mcp.json#notes`'],
    ['job-index', '3', '`comment-id` names a job'],
  ])('is refused as %s without a word of its value', (name, text, advice) => {
    const [message = '', ...more] = readMessages({ ...complete, [name]: text });
    expect([message, more]).toEqual([expect.stringContaining(advice), []]);
    expect(message).not.toContain(text);
  });

  it('is refused once for each name, next to the problems of other options, and where a report is judged', () => {
    const texts = { ...complete, 'retry-failed': '2', flaky: 'pass', runs: '0' };
    expect(readMessages(texts).map((message) => message.split(':')[0])).toEqual(['retry-failed', 'flaky', 'runs']);
    expect(readMessages({ 'report-only': 'true' }, parseJudgeOptions)).toHaveLength(1);
  });

  it('is ignored if it is blank, because a workflow leaves an input out like that', () => {
    expect(readMessages({ ...complete, ...Object.fromEntries(movedOptions.map(({ name }) => [name, ' \n'])) })).toEqual(
      [],
    );
  });

  it('never repeats text that YAML could read in another way', () => {
    for (const text of ['a: b', '- x', '{}', 'x'.repeat(21), '#']) {
      expect(readMessages({ ...complete, flaky: text })[0]).toContain('write `flaky: report` in');
    }
  });

  it('is no option any more', () => {
    const moved = new Set(movedOptions.map(({ name }) => name));
    expect(listOptions().filter(({ name }) => moved.has(name))).toEqual([]);
  });
});

describe('the command with a flag that has moved', () => {
  it.each([
    [['run', '--retry-failed', '2'], /^retry-failed: is a rule of the policy now; write `retryFailed: 2` in/m],
    [['run', '--retry-failed=3'], /^retry-failed: is a rule of the policy now; write `retryFailed: 3` in/m],
    [['run', '--annotations=false'], /^annotations: is an entry of `report-to` now; leave `annotations` out/m],
    [['merge', 'shards', '--comment', 'always'], /^comment: .* add `comment:always` to it/m],
    [['run', '--merge', 'shards'], /^merge: is an action and a command of its own; .*`mcp-eval-ci merge <directory>`/m],
    [['run', '--publish=report'], /^publish: is an action and a command of its own; .*`mcp-eval-ci publish <report>`/m],
    [['run', '--full-report'], /^full-report: is a report format; add `iterations`/m],
    [['run', '--report-only'], /^report-only: .* write `reportOnly: true` in/m],
    [['judge', 'report.json', '--on-nothing-run', 'warn'], /^on-nothing-run: .* write `onNothingRun: warn` in/m],
    [['merge', 'shards', '--maximum-regressions', '1'], /^maximum-regressions: .* write `maximumRegressions: 1` in/m],
  ])('exits with 2 for %j and names the key', async (args, message) => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': greenEvals });
    const usual = args[0] === 'run' ? ['--server-command', 'node server.js', 'a.evals.yaml'] : [];
    const { exitCode, stderr } = await runProgramInTest([...args, ...usual], { cwd: workspace.path });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr).toContain('1 problem; nothing was run.');
  });

  it('does not offer it in its help', async () => {
    const { stdout } = await runProgramInTest(['run', '--help'], { cwd: process.cwd() });
    expect(stdout).toContain('--policy');
    expect(stdout).not.toContain('--retry-failed');
  });
});
