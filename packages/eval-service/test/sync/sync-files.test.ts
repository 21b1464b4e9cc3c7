import { beforeEach, afterEach, describe, expect, it } from 'vitest';
import { formatConfigurationIssue, ConfigurationError } from '../../../../src/base/errors.ts';
import { Secret } from '../../../../src/base/redaction.ts';
import { serviceProfiles } from '../../../../src/service/profile.ts';
import { describeSuiteSync } from '../../src/sync/plan-sync.ts';
import { applySync, planSync, pullFile, readSyncFiles, type SyncPlace } from '../../src/sync/sync-files.ts';
import {
  type ContractService,
  openContractService,
  saveServer,
} from '../../../../test/support/service/contract-service.ts';
import { catchError, openTestClient } from '../../../../test/support/service/service-client.ts';
import { createWorkspace } from '../../../../test/support/workspace.ts';

const profile = { ...serviceProfiles.svc, pacing: null };

let service: ContractService;
let place: SyncPlace;

beforeEach(async () => {
  service = await openContractService();
  const origin = new URL(service.baseUrl).origin;
  place = {
    client: openTestClient({ origin }, { apiKey: new Secret(service.apiKey), profile }),
    projectId: service.projectId,
  };
});

afterEach(async () => {
  await place.client[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

async function read(text: string) {
  await using workspace = await createWorkspace({ 'notes.evals.yaml': text });
  return await readSyncFiles(['*.evals.yaml'], { cwd: workspace.path, profile });
}

/** Plans, and carries it out if `prune` says how. Gives the lines of the plan. */
async function sync(text: string, { prune = false, server = null as string | null, isApplied = true } = {}) {
  const plans = await planSync(await read(text), { server, prune }, place);
  if (isApplied) await applySync(plans, place);
  return plans.flatMap(describeSuiteSync);
}

/** Everything that the service keeps of its suites, apart from ids and times. */
async function listStored() {
  const { items } = (await service.project.get('/eval-suites')).body;
  return await Promise.all(
    items.map(async ({ id, name }: { id: string; name: string }) => {
      const { body } = await service.project.get(`/eval-suites/${id}`);
      const cases = (await service.project.get(`/eval-suites/${id}/cases`)).body.items;
      return {
        name,
        description: body.description,
        cases: cases.map((item: { declaredId: string; title: string }) => `${item.declaredId}: ${item.title}`),
      };
    }),
  );
}

const refuse = async (promise: Promise<unknown>) => {
  const error = await catchError(promise);
  if (!(error instanceof ConfigurationError)) throw error;
  return error.issues.map(formatConfigurationIssue);
};

const adds = '  - { id: adds, title: Adds, steps: [{ toolCall: add, arguments: { a: 1 } }] }';
const subs = '  - { id: subs, title: Subtracts, steps: [{ toolCall: sub }, { assert: { toolNeverCalled: add } }] }';
const file = (...cases: string[]) => `suite: Notes\ncases:\n${cases.join('\n')}\n`;

describe('sync', () => {
  it('changes nothing while it plans, and then does what the plan says', async () => {
    await saveServer(service);
    const lines = ['Notes: the suite is created.', '  + adds: Adds', '  + subs: Subtracts'];
    expect(await sync(file(adds, subs), { isApplied: false })).toEqual(lines);
    expect(await listStored()).toEqual([]);
    expect(await sync(file(adds, subs))).toEqual(lines);
    expect(await listStored()).toMatchObject([{ name: 'Notes', cases: ['adds: Adds', 'subs: Subtracts'] }]);
    expect(await sync(file(adds, subs))).toEqual(['Notes: nothing to change, 2 cases as in the file.']);
  });

  it('finds a case by its id, whatever its title has become', async () => {
    await saveServer(service);
    await sync(file(adds, subs));
    const renamed = adds.replace('title: Adds', 'title: Adds two, runs: 3');
    expect(await sync(file(renamed, subs))).toEqual(['Notes: 1 case as in the file.', '  ~ Adds two (title, runs)']);
    expect(await listStored()).toMatchObject([{ cases: ['adds: Adds two', 'subs: Subtracts'] }]);
  });

  it('deletes only with prune, and only what it created', async () => {
    await saveServer(service);
    await sync(file(adds, subs));
    const { items } = (await service.project.get('/eval-suites')).body;
    const own = { title: 'By hand', steps: [{ id: 'p', kind: 'prompt', prompt: 'Hi.' }] };
    await service.project.post(`/eval-suites/${items[0].id}/cases`, { id: 'by_hand', ...own });
    const foreign = '  · By hand (not made by sync; it stays)';
    expect(await sync(file(adds))).toEqual([
      'Notes: nothing to change, 1 case as in the file.',
      '  ? Subtracts (no longer in the file; --prune deletes it)',
      foreign,
    ]);
    expect(await listStored()).toMatchObject([{ cases: ['adds: Adds', 'subs: Subtracts', 'by_hand: By hand'] }]);
    expect(await sync(file(adds), { prune: true })).toEqual([
      'Notes: 1 case as in the file.',
      '  - Subtracts',
      foreign,
    ]);
    expect(await listStored()).toMatchObject([{ cases: ['adds: Adds', 'by_hand: By hand'] }]);
  });

  it('does not delete a case that others created under an id of the file', async () => {
    await saveServer(service);
    await sync(file(adds));
    const { items } = (await service.project.get('/eval-suites')).body;
    const steps = [
      { id: 'step-1', kind: 'toolCall', serverName: 'demo', toolName: 'sub', arguments: {} },
      { id: 'step-2', kind: 'assert', assertion: { type: 'toolNeverCalled', toolName: 'add' } },
    ];
    await service.project.post(`/eval-suites/${items[0].id}/cases`, { id: 'subs', title: 'Theirs', steps });
    await sync(file(adds, subs));
    await sync(file(adds), { prune: true });
    expect(await listStored()).toMatchObject([{ cases: ['adds: Adds', 'subs: Subtracts'] }]);
  });

  it('makes a case anew whose steps become of another kind', async () => {
    await saveServer(service);
    await sync(file(adds));
    const asks = '  - { id: adds, title: Adds, model: openai/gpt, steps: [{ prompt: Add. }] }';
    expect(await sync(file(asks))).toEqual([
      'Notes: 0 cases as in the file.',
      '  ± Adds (deleted and created again: steps of another kind)',
    ]);
    expect(await sync(file(asks))).toEqual(['Notes: nothing to change, 1 case as in the file.']);
  });

  it('keeps what people write in the description of the suite', async () => {
    await saveServer(service);
    await sync(file(adds));
    const { items } = (await service.project.get('/eval-suites')).body;
    const path = `/eval-suites/${items[0].id}`;
    const { description } = (await service.project.get(path)).body;
    await service.project.patch(path, { description: `By hand.\nSince May.\n${description}` });
    await sync(file(adds, subs));
    const [stored] = await listStored();
    expect(stored.description).toMatch(
      /^By hand\.\nSince May\.\n\[mcp-eval-ci sync 1: suite notes; cases( \S{10}){2}; do not edit\]$/,
    );
  });

  it('ends what a sync left that was stopped', async () => {
    const serverId = await saveServer(service);
    const title = 'mcp-eval-ci sync is creating this suite';
    const tests = [{ title, runs: 1, steps: [{ id: 'called', kind: 'assert', assertion: { type: 'noToolErrors' } }] }];
    await service.project.post('/eval-suites', { name: 'Notes', serverIds: [serverId], model: 'none/none', tests });
    expect(await sync(file(adds))).toEqual(['Notes: 0 cases as in the file.', '  + adds: Adds', `  - ${title}`]);
    expect(await listStored()).toMatchObject([{ cases: ['adds: Adds'] }]);
  });

  it('takes the only server of the project, and asks for one of several', async () => {
    expect(await refuse(sync(file(adds)))).toEqual([expect.stringMatching(/^server: The project has no server; /)]);
    await saveServer(service, { name: 'one' });
    await saveServer(service, { name: 'two' });
    expect(await refuse(sync(file(adds)))).toEqual([
      expect.stringMatching(/^server: The project has several servers; /),
    ]);
    expect(await refuse(sync(file(adds), { server: 'Two' }))).toEqual([expect.stringContaining('did you mean "two"')]);
    await sync(file(adds), { server: 'two' });
    const pulled = await pullFile('Notes', place);
    expect(pulled).not.toContain('server:');
    const both = file(adds.replace('toolCall: add', 'toolCall: add, server: one'), subs);
    expect(await sync(both, { server: 'two' })).toContain('  ~ servers: without -> one');
    // Of several, none is taken for granted.
    const pulledBoth = await pullFile('Notes', place);
    expect(pulledBoth.match(/server: \w+/g)).toEqual(['server: one', 'server: two']);
    expect(await sync(pulledBoth, { server: 'two' })).toEqual([expect.stringContaining('nothing to change')]);
    const unknown = file(adds.replace('toolCall: add', 'toolCall: add, server: three'));
    expect(await refuse(sync(unknown, { server: 'two' }))).toEqual([
      expect.stringMatching(/^notes\.evals\.yaml:3:38: the project has no server called "three"/),
    ]);
  });

  it.each([
    ['tags', adds.replace('title:', 'tags: [a], title:'), '3:17: the service svc does not keep `tags`'],
    ['a timeout', adds.replace('title:', 'timeout: 5s, title:'), '3:17: the service svc does not keep `timeout`'],
    ['an own step', adds.replace('[{', '[listTools, {'), '3:38: the service svc does not keep `listTools`'],
    [
      'an own assertion',
      adds.replace('} }] }', '} }, { assert: { toolResultContains: x } }] }'),
      '3:78: the service svc does not keep `toolResultContains` here',
    ],
    [
      'advice',
      adds.replace('steps:', 'checks: [{ type: noToolErrors, role: advisory }], steps:'),
      '3:5: the service svc does not keep `noToolErrors` here',
    ],
    ['a name', adds.replace('a: 1', "a: '{{uuid}}'"), '3:71: the service svc does not keep `{{uuid}}`'],
    ['many runs', adds.replace('title:', 'runs: 11, title:'), '3:5: the service svc does not keep more than 10 runs'],
    [
      'the same case twice',
      `${adds}\n${adds.replace('id: adds', 'id: more')}`,
      '4:5: case "Adds" is the same as the one in line 3',
    ],
    [
      'a prompt without a model',
      '  - { title: A, steps: [{ prompt: Hi. }] }',
      '3:25: case "A" has a prompt step and no model',
    ],
  ])('refuses %s with its line, since the service could not give it back', async (_what, item, message) => {
    expect(await refuse(read(file(item)))).toEqual([expect.stringContaining(`notes.evals.yaml:${message}`)]);
  });

  it('refuses settings of the gate with their line', async () => {
    const text = `suite: Notes\nindependent: true\npolicy: { minimumPassRate: 90%, required: [adds] }\ncases:\n${adds}\n`;
    expect(await refuse(read(text))).toEqual([
      expect.stringContaining('notes.evals.yaml:2:1: the service svc does not keep `independent`'),
      expect.stringContaining('notes.evals.yaml:3:33: the service svc does not keep `required`'),
    ]);
  });
});

describe('pull', () => {
  it('writes what a file need not say in as few words as possible', async () => {
    await saveServer(service);
    const text = [
      'suite: Notes',
      'model: openai/gpt',
      'system: Be brief.',
      'runs: 3',
      'checks:',
      '  - noToolErrors',
      'policy:',
      '  minimumPassRate: 66.67%',
      'cases:',
      '  - title: Adds',
      '    match:',
      '      toolCallOrder: exact',
      '    expectedOutput: five',
      '    steps:',
      '      - prompt: What is 2 + 3?',
      '      - assert:',
      '          toolCalledWith: add',
      '          arguments:',
      '            a: 2',
      '  - title: Subtracts',
      '    id: minus',
      '    negative: true',
      '    steps:',
      '      - toolCall: sub',
      '        id: first',
      '        arguments:',
      String.raw`          text: \{{no name}}`,
      '',
    ].join('\n');
    await sync(text);
    expect(await pullFile('Notes', place)).toBe(text);
  });

  it('refuses what an evals file cannot say, by its case', async () => {
    const serverId = await saveServer(service);
    const steps = [{ id: 'p', kind: 'prompt', prompt: 'Hi.' }];
    const tests = [{ title: 'Asks', steps, model: 'gpt', provider: 'openai' }];
    await service.project.post('/eval-suites', { name: 'Theirs', serverIds: [serverId], model: 'openai/gpt', tests });
    expect(await refuse(pullFile('Theirs', place))).toEqual([
      'suite: an evals file cannot say this exactly: case "Asks": model (cannot-be-written)',
    ]);
  });

  it('writes cases of another kind of checks as they count, and as often as the suite requires', async () => {
    const serverId = await saveServer(service);
    const steps = [{ id: 'p', kind: 'prompt', prompt: 'Hi.' }];
    const base = { steps, model: 'openai/gpt', provider: 'openai' };
    const tests = [
      { title: 'Inherits', ...base },
      { title: 'Extends', ...base, predicates: { mode: 'extend', list: [{ type: 'turnCountUnder', turns: 3 }] } },
      { title: 'Replaces', ...base, predicates: { mode: 'replace', list: [] } },
    ];
    const body = { name: 'Theirs', serverIds: [serverId], model: 'openai/gpt', tests };
    const { suiteId } = (await service.project.post('/eval-suites', body)).body;
    const settings = { minimumIterations: 4, checks: [{ type: 'noToolErrors' }] };
    await service.project.patch(`/eval-suites/${suiteId}`, { settings });
    const pulled = await pullFile('Theirs', place);
    expect(pulled).toContain('runs: 4\n');
    expect(
      pulled
        .match(/title: \w+\n(?: {4}(?:id|checks): ?.*\n| {6}.*\n)*/g)
        ?.map((part) => part.match(/noToolErrors|turnCountUnder: 3/g)),
    ).toEqual([['noToolErrors'], ['noToolErrors', 'turnCountUnder: 3'], null]);
  });

  it('writes a suite of the gate, whose calls name no server of the project', async () => {
    const serverId = await saveServer(service);
    const call = { id: 'step-1', kind: 'toolCall', serverName: 'server-under-test', toolName: 'add', arguments: {} };
    const tests = [
      { title: 'Adds', steps: [call, { id: 'called', kind: 'assert', assertion: { type: 'noToolErrors' } }] },
    ];
    await service.project.post('/eval-suites', { name: 'Theirs', serverIds: [serverId], model: 'none/none', tests });
    expect(await pullFile('Theirs', place)).toMatch(
      /^suite: Theirs\ncases:\n {2}- title: Adds\n {4}id: \S+\n {4}steps:\n {6}- toolCall: add\n$/,
    );
  });

  it('names a suite that the project does not have', async () => {
    expect(await refuse(pullFile('Nothing', place))).toEqual([
      expect.stringMatching(/^suite: No suite of the project/),
    ]);
  });
});
