import { describe, expect, it } from 'vitest';
import { renderComment } from '../../src/report/comment.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { planAnnotations } from '../../src/report/annotations.ts';
import { rejudgeReport } from '../../src/gate/judge/rejudge.ts';
import { reportSchema } from '../../src/model/report.ts';
import { systemClock } from '../../src/base/time.ts';
import { renderSurfaceFile } from '../../src/surface/file.ts';
import { readSurface } from '../../src/surface/read.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { type FixtureTool, refuse, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { createWorkspace } from '../support/workspace.ts';

const limit = { type: ['integer', 'string'], description: 'How many.' };
const createSearch = (tool: Partial<FixtureTool> = {}): FixtureTool => ({
  description: 'Searches.',
  inputSchema: { type: 'object', properties: { limit } },
  outputSchema: { type: 'object', properties: { hits: { type: 'integer' } }, required: ['hits'] },
  call: () => ({ content: [], structuredContent: { hits: 1 } }),
  ...tool,
});
const add: FixtureTool = { description: 'Adds.', call: () => text('added') };

const evals = 'suite: notes\ncases:\n  - title: Adds\n    steps:\n      - toolCall: add\n';

/** Runs a gate with the surface file of one server against a server with other tools. */
async function runChanged(changed: Record<string, FixtureTool>, { policy = '', options = {} } = {}) {
  await using server = await startFixtureMcpServer({ search: createSearch(), add });
  const { signal } = new AbortController();
  const target = { url: server.url, serverName: 'fixture', protocol: 'auto' as const };
  const { surface } = await readSurface(target, { clock: systemClock, signal });
  await using changedServer = await startFixtureMcpServer(changed, options);
  await using workspace = await createWorkspace({
    'notes.evals.yaml': evals,
    'surface.json': renderSurfaceFile({ version: 1, configurations: { default: surface } }),
    'policy.yaml': policy,
  });
  const inputs = { 'server-command': '', 'server-url': changedServer.url, isolation: '', surface: 'surface.json' };
  const result = await runEmbeddedGate(workspace, { ...inputs, ...(policy !== '' && { policy: 'policy.yaml' }) });
  return { ...result, summary: renderSummary(result.report), comment: renderComment(result.report) };
}

describe('a gate with a surface file', () => {
  it('says nothing of a server that shows what the file says', async () => {
    const { exitCode, report, summary, comment } = await runChanged({ search: createSearch(), add });
    expect([exitCode, report.verdict.outcome]).toEqual([0, 'passed']);
    expect(report.surface?.configurations.map(({ changes, findings }) => [changes, findings])).toEqual([[[], []]]);
    expect(summary).toContain('Tool surface: no changes');
    expect(comment).toContain('Tool surface: no changes');
    expect(planAnnotations(report)).toEqual([]);
  });

  it.each<[string, Record<string, FixtureTool>, string, 0 | 1]>([
    ['a removed tool', { add }, 'breaking tool.search.removed', 1],
    [
      'a new required argument',
      {
        add,
        search: createSearch({
          inputSchema: { type: 'object', properties: { limit, words: limit }, required: ['words'] },
        }),
      },
      'breaking tool.search.input.words.addedRequired',
      1,
    ],
    [
      'a narrowed type',
      {
        add,
        search: createSearch({ inputSchema: { type: 'object', properties: { limit: { ...limit, type: 'integer' } } } }),
      },
      'breaking tool.search.input.limit.typeNarrowed',
      1,
    ],
    [
      'a widened output',
      {
        add,
        search: createSearch({
          outputSchema: { type: 'object', properties: { hits: { type: 'number' } }, required: ['hits'] },
        }),
      },
      'breaking tool.search.output.hits.typeWidened',
      1,
    ],
    [
      'a changed description',
      { add, search: createSearch({ description: 'Finds.' }) },
      'review tool.search.descriptionChanged',
      0,
    ],
    [
      'a new tool',
      { add, search: createSearch(), more: { ...add, description: 'More.' } },
      'additive tool.more.added',
      0,
    ],
  ])('gives %s its severity in summary, comment, annotations and exit code', async (_what, tools, change, code) => {
    const { exitCode, report, summary, comment, warnings } = await runChanged(tools);
    const [severity = '', id = ''] = change.split(' ');
    expect(report.surface?.configurations[0]?.changes.map((each) => `${each.severity} ${each.id}`)).toEqual([change]);
    expect([exitCode, report.stopsJob, report.verdict.reasons[0]?.code]).toEqual(
      code === 1 ? [1, true, 'surface-changed'] : [0, false, 'minimum-met'],
    );
    expect(summary).toMatch(new RegExp(`${severity} \\| .*${id.replaceAll('.', '\\.')}`));
    expect(comment).toContain(`Tool surface: 1 ${severity}`);
    expect(comment.includes(id)).toBe(severity !== 'additive');
    expect(warnings.some((warning) => warning.includes(id))).toBe(severity === 'review');
    const marked = planAnnotations(report).filter(({ file }) => file === 'surface.json');
    expect(marked.map(({ level }) => level)).toEqual({ breaking: ['error'], review: ['warning'] }[severity] ?? []);
    expect(reportSchema.parse(JSON.parse(JSON.stringify(report))).surface).toEqual(report.surface);
  });

  it('goes by the policy, and judges a stored report by another one', async () => {
    const { exitCode, report } = await runChanged(
      { add },
      { policy: 'surface: { breaking: warn, maximumBytes: 10 }\n' },
    );
    expect([exitCode, report.verdict.reasons.map(({ code }) => code)]).toEqual([1, ['surface-too-large']]);
    const again = rejudgeReport(report, { minimumPassRate: null, baseline: null, policy: null });
    expect(again.report.verdict).toEqual(report.verdict);
    expect(again.report.notes).toEqual(report.notes);
  });

  it('is inconclusive where the server does not list what it shows', async () => {
    const options = {
      capabilities: { tools: {}, prompts: {} },
      prepare: (server: { setRequestHandler: (method: 'prompts/list', handler: () => never) => void }) =>
        server.setRequestHandler('prompts/list', () => refuse(-32603, 'no prompts today')),
    };
    const { exitCode, report } = await runChanged({ search: createSearch(), add }, { options });
    expect([exitCode, report.verdict.outcome, report.verdict.reasons[0]?.code]).toEqual([
      3,
      'inconclusive',
      'surface-unread',
    ]);
  });

  it('ends before anything starts where there is no such file', async () => {
    await using workspace = await createWorkspace({ 'notes.evals.yaml': evals });
    await expect(runEmbeddedGate(workspace, { surface: 'surface.json' })).rejects.toThrow(
      'surface: "surface.json" does not exist; write it with `mcp-eval-ci surface --update`',
    );
  });
});

describe('a gate whose surface is compared with the base', () => {
  async function compareWithBase(
    inputs: Record<string, string>,
    base: Parameters<typeof startFixtureMcpServer>[1] = {},
  ) {
    await using before = await startFixtureMcpServer({ search: createSearch(), add }, base);
    await using after = await startFixtureMcpServer({ add });
    await using workspace = await createWorkspace({ 'notes.evals.yaml': evals });
    const { url } = before;
    const result = await runEmbeddedGate(workspace, {
      'server-command': '',
      'server-url': after.url,
      isolation: '',
      surface: 'base',
      ...Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, value.replace('BASE', url)])),
    });
    return { ...result, summary: renderSummary(result.report), comment: renderComment(result.report) };
  }

  it('fails for a removed tool, without a file', async () => {
    const { exitCode, report, summary, comment } = await compareWithBase({ base: 'url=BASE' });
    expect([exitCode, report.verdict.reasons[0]?.code]).toEqual([1, 'surface-changed']);
    expect(report.surface).toMatchObject({
      against: 'base',
      configurations: [{ name: 'default', changes: [{ id: 'tool.search.removed', location: null }] }],
    });
    expect(report.verdict.reasons[0]?.message).toContain('1 breaking change against the base: tool.search.removed');
    expect(summary).toContain('Compared with the server of the base.');
    expect(comment).toContain('Tool surface: 1 breaking');
  });

  it('names another name of the server, which a file does not have', async () => {
    const { report } = await compareWithBase({ base: 'url=BASE' }, { name: 'notes' });
    expect(
      report.surface?.configurations[0]?.changes.map(({ id, before, after }) => [id, before, after]),
    ).toContainEqual(['server.nameChanged', 'notes', 'fixture']);
    const ofFile = await runChanged({ search: createSearch(), add }, { options: { name: 'notes' } });
    expect(ofFile.report.surface?.configurations[0]?.changes).toEqual([]);
  });

  it('is inconclusive where the base does not list what it shows, and says so', async () => {
    const options = {
      capabilities: { tools: {}, prompts: {} },
      prepare: (server: { setRequestHandler: (method: 'prompts/list', handler: () => never) => void }) =>
        server.setRequestHandler('prompts/list', () => refuse(-32603, 'no prompts today')),
    };
    const { exitCode, report, comment, warnings } = await compareWithBase({ base: 'url=BASE' }, options);
    const unread = 'The server of the base did not list what it shows: no prompts today.';
    expect([exitCode, report.verdict.outcome]).toEqual([3, 'inconclusive']);
    expect(report.surface).toEqual({ against: 'base', unread, configurations: [] });
    expect(report.verdict.reasons.map(({ code }) => code)).toContain('surface-unread');
    expect(comment).toContain('The server of the base did not list what it shows');
    expect(warnings.join().split('no prompts today')).toHaveLength(2);
  });

  it('ends before anything starts where no base runs in the job', async () => {
    await expect(compareWithBase({})).rejects.toThrow('surface: is `base`, and no base runs in this job');
  });
});
