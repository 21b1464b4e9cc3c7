import { describe, expect, it } from 'vitest';
import { rejudgeReport } from '../../src/gate/judge/rejudge.ts';
import { listContradictions } from '../../src/gate/plan/check-report.ts';
import { reportSchema } from '../../src/model/report.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { renderTerminal } from '../../src/report/terminal.ts';
import { readPolicy } from '../../src/suite/read-policy.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import {
  type FixtureServerOptions,
  type FixtureTool,
  refuse,
  startFixtureMcpServer,
  text,
} from '../support/servers/fixture-mcp-server.ts';
import { createWorkspace } from '../support/workspace.ts';

const tools: Record<string, FixtureTool> = {
  search: {
    inputSchema: { type: 'object', properties: { mode: { enum: ['fast', 'slow'] }, limit: { type: 'integer' } } },
    call: ({ args }) => (args['mode'] === 'slow' ? { ...text('too slow'), isError: true } : text('found')),
  },
  drop: { call: () => refuse(-32_000, 'never') },
};

const prepare: NonNullable<FixtureServerOptions['prepare']> = (server) => {
  server.setRequestHandler('prompts/list', () => ({ prompts: [{ name: 'ask' }, { name: 'tell' }] }));
  server.setRequestHandler('prompts/get', () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'What?' } }],
  }));
  server.setRequestHandler('resources/list', () => ({ resources: [{ uri: 'note://1', name: 'one' }] }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'note://{id}', name: 'note' }],
  }));
  server.setRequestHandler('resources/read', ({ params }) => ({ contents: [{ uri: params.uri, text: 'one' }] }));
};

const search = '  - title: Finds\n    steps:\n      - toolCall: search\n        arguments: { mode: fast }\n';
const slow = `  - title: Fails slowly
    steps:
      - toolCall: search
        arguments: { mode: slow }
      - assert: { toolResultIsError: true }
`;

const rest = `  - title: Asks
    steps:
      - getPrompt: ask
      - readResource: note://2
`;

async function runCovered(cases: string, { policy = '', inputs = {}, options = {} } = {}) {
  const capabilities = { tools: {}, prompts: {}, resources: {} };
  await using server = await startFixtureMcpServer(tools, { capabilities, prepare, ...options });
  await using workspace = await createWorkspace({
    'notes.evals.yaml': `suite: notes\ncases:\n${cases}`,
    'policy.yaml': policy,
  });
  const result = await runEmbeddedGate(workspace, {
    'server-command': '',
    'server-url': server.url,
    isolation: '',
    ...(policy !== '' && { policy: 'policy.yaml' }),
    ...inputs,
  });
  const covered = result.report.coverage?.items.filter(({ isCovered }) => isCovered);
  return { ...result, covered: covered?.map(({ kind, path }) => `${kind} ${path.join('.')}`), events: server.events };
}

const measured = 'minimumCoverage: { tools: 0% }\n';

describe('coverage of a gate', () => {
  it('counts what iterations did, and shows it in the reports', async () => {
    const { report, covered } = await runCovered(`${search}${slow}${rest}`, { policy: measured });
    expect(report.verdict.outcome).toBe('passed');
    expect(covered).toEqual([
      'tools search',
      'errors search',
      'parameters search.mode',
      'values search.mode."fast"',
      'values search.mode."slow"',
      'prompts ask',
      'templates note://{id}',
    ]);
    expect(renderSummary(report)).toContain('| tools | 1 of 2 | 50% | ✅ 0% | `drop` |');
    expect(renderSummary(report)).toContain('| resources | 0 of 1 | 0% |  | `note://1` |');
    const [, table = ''] = renderTerminal(report, { color: false }).split('\nCoverage\n');
    expect(table).toMatch(/^ +tools +1 of 2 +50% +✓ 0% +drop$/m);
    expect(table).toMatch(/^ +resources +0 of 1 +0% +note:\/\/1$/m);
    expect(reportSchema.parse(JSON.parse(JSON.stringify(report))).coverage).toEqual(report.coverage);
  });

  it('counts calls of a case that fails, but not its error', async () => {
    const failing = search.replace('mode: fast', 'mode: slow');
    const { report, covered } = await runCovered(failing, { policy: measured });
    expect(report.verdict.outcome).toBe('failed');
    expect(covered).toEqual(['tools search', 'parameters search.mode', 'values search.mode."slow"']);
  });

  it.each([
    ['tools: 50%', 'passed', 0, 'minimum-met'],
    ['tools: 51%', 'failed', 1, 'below-minimum-coverage'],
    ['values: 100%', 'failed', 1, 'below-minimum-coverage'],
  ])('judges %s as %s, also when the report is judged again', async (minimum, outcome, code, reason) => {
    const { report, exitCode } = await runCovered(search, { policy: `minimumCoverage: { ${minimum} }\n` });
    expect([report.verdict.outcome, exitCode, report.verdict.reasons[0]?.code]).toEqual([outcome, code, reason]);
    const stored = reportSchema.parse(JSON.parse(JSON.stringify(report)));
    expect(listContradictions(stored)).toEqual([]);
    const { policy } = readPolicy('minimumCoverage: { tools: 100% }\n', { file: 'other.yaml' });
    const again = rejudgeReport(stored, { minimumPassRate: null, baseline: null, policy });
    expect(again.report.verdict.reasons[0]).toMatchObject({
      code: 'below-minimum-coverage',
      message: expect.stringContaining('(from other.yaml:1). Not covered: drop.'),
    });
  });

  it('is absent where nothing asks for it, and opens no session then', async () => {
    const plain = await runCovered(search);
    expect(plain.report.coverage).toBeUndefined();
    const asked = await runCovered(search, { policy: measured });
    const count = (events: readonly string[], name: string) => events.filter((event) => event === name).length;
    expect(count(asked.events, 'list')).toBe(count(plain.events, 'list') + 1);
  });

  it('leaves the verdict open where the server does not list its tools', async () => {
    const list = () => refuse(-32_603, 'no list');
    const { report, exitCode } = await runCovered(rest, {
      policy: 'minimumCoverage: { tools: 100% }\n',
      options: { list },
    });
    expect(report.coverage).toMatchObject({ unread: expect.stringContaining('no list'), items: [] });
    expect([exitCode, report.verdict.outcome, report.verdict.reasons.map(({ code }) => code)]).toEqual([
      3,
      'inconclusive',
      ['coverage-unread'],
    ]);
  });

  it('does not judge chosen cases', async () => {
    const policy = 'minimumCoverage: { tools: 100% }\n';
    const { report } = await runCovered(`${search}${slow}`, { policy, inputs: { cases: 'Finds' } });
    expect(report.verdict.outcome).toBe('passed');
    expect(report.coverage?.isPartial).toBe(true);
    expect(renderSummary(report)).toContain('Only a part of the cases ran, so that no minimum is judged.');
  });

  it('refuses a minimum next to stopEarly, which leaves out iterations', async () => {
    const policy = 'stopEarly: true\nminimumCoverage: { tools: 100% }\n';
    await expect(runCovered(search, { policy })).rejects.toThrow('`stopEarly` leaves out iterations that may cover');
  });
});

describe('coverage of shards', () => {
  it('adds up, and is judged where they are joined', async () => {
    const policy = 'minimumCoverage: { values: 100% }\n';
    const files: Record<string, string> = {};
    for (const shard of ['1/2', '2/2']) {
      const { report } = await runCovered(`${search}${slow}`, { policy, inputs: { shard } });
      expect([report.verdict.outcome, report.coverage?.isPartial]).toEqual(['passed', true]);
      files[`parts/${shard.charAt(0)}/report.json`] = JSON.stringify({ ...report, server: null });
    }
    await using workspace = await createWorkspace(files);
    const inputs = { 'server-command': '', evals: '', isolation: '', merge: 'parts' };
    const { report } = await runEmbeddedGate(workspace, inputs);
    expect([report.verdict.outcome, report.coverage?.isPartial]).toEqual(['passed', false]);
    expect(report.coverage?.items.every(({ kind, isCovered }) => kind !== 'values' || isCovered)).toBe(true);
  });
});
