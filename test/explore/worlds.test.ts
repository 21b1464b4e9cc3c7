import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { KeptSession } from '../../src/explore/corpus.ts';
import type { FileEffects, Observation, SessionRun } from '../../src/explore/exploration.ts';
import type { ExploredRequest } from '../../src/model/explored-request.ts';
import { dependsOnFiles, replaySessions } from '../../src/explore/stability/replay.ts';
import { fillReferences } from '../../src/explore/world/placeholders.ts';
import { putBack, readStarted } from '../../src/explore/world/put-back.ts';
import { compareSnapshots, takeSnapshot } from '../../src/explore/world/snapshot.ts';
import { firstVariant, type World, type WorldSource, type WorldVariant } from '../../src/explore/world/world.ts';
import type { KeptState } from '../../src/explore/world/restorer.ts';
import { openVariant } from '../../src/explore/world/worlds.ts';
import { copyWorkspace, emptyWorkspace, readWorkspace } from '../../src/workspace/workspace.ts';
import { createWorkspace } from '../support/workspace.ts';

const call = (tool: string, args: Record<string, unknown> = {}): ExploredRequest => ({
  kind: 'tool',
  tool,
  arguments: args,
});
const [add, list] = [call('add', { name: 'alpha' }), call('list')];
const isHarmless = (tool: string) => tool !== 'add' && tool !== 'touch';

/** Where the names of `add` are, which `list` shows: in a file of the workspace, in the process alone, or in both, of which it reads the process. */
type Store = 'file' | 'process' | 'both';

/** Opens worlds of a server without a process, and notes the requests that each gets. */
function openNotedWorlds(store: Store): { source: WorldSource; noted: string[][] } {
  const noted: string[][] = [];
  let draws = 0;
  let throws = 0;
  const open = async (variant: WorldVariant): Promise<World> => {
    const own: string[] = [];
    noted.push(own);
    let names: unknown[] = [];
    /** Stays in the process after its files were restored. */
    let last: unknown = 'none';
    let stored = 0;
    let results: unknown[] = [];
    const answer = async (request: ExploredRequest): Promise<Observation> => {
      const sent = fillReferences(request, results);
      own.push('tool' in sent ? `${sent.tool} ${Object.values(sent.arguments).join()}`.trim() : sent.kind);
      throws += sent.kind === 'tool' && sent.tool === 'coin' ? 1 : 0;
      const isAdding = sent.kind === 'tool' && sent.tool === 'add';
      if (isAdding) names.push((last = sent.arguments['name']));
      stored += Number(isAdding);
      const others: Record<string, unknown> = {
        zone: variant.timeZone ?? 'none',
        last,
        log: own.filter((name) => name !== 'log').length,
        world: noted.length,
        draw: (draws += 1),
        coin: throws > 4 ? 'tails' : 'heads',
      };
      const other = sent.kind === 'tool' ? others[sent.tool] : undefined;
      const result = { names: other === undefined ? [...names] : [other] };
      results.push(result);
      const files: FileEffects = {
        added: isAdding && store !== 'process' && stored === 1 ? ['names'] : [],
        changed: isAdding && store !== 'process' && stored > 1 ? ['names'] : [],
        removed: [],
      };
      return await Promise.resolve({ outcome: { kind: 'result', isError: false, result }, files, noise: null });
    };
    return await Promise.resolve({
      handshake: { protocol: 'legacy', protocolVersion: '', name: null, version: null },
      capabilities: {},
      startNoise: null,
      isLost: false,
      hadFile: () => false,
      beginSession: (earlier: readonly unknown[] = []) => {
        results = [...earlier];
      },
      get results() {
        return results;
      },
      restoreFiles: async () => {
        if (store === 'file') names = [];
        stored = 0;
        return await Promise.resolve(true);
      },
      send: answer,
      list: async () => await Promise.resolve(null),
      [Symbol.asyncDispose]: async () => await Promise.resolve(),
    });
  };
  const end = async () => await Promise.resolve();
  return {
    noted,
    source: {
      sandbox: 'none',
      isShared: false,
      isGivenWorkspace: false,
      missing: [],
      open,
      [Symbol.asyncDispose]: end,
    },
  };
}

describe('openVariant', () => {
  const judge = ({ request }: { request: ExploredRequest }) =>
    'tool' in request && !isHarmless(request.tool) ? ('used' as const) : ('clean' as const);
  const runAll = async (
    sessions: ExploredRequest[][],
    { store = 'process', ...options }: { store?: Store; isSharing?: boolean; kept?: KeptState },
  ) => {
    const { source, noted } = openNotedWorlds(store);
    await using worlds = openVariant(source, firstVariant, { isEager: false, ...options });
    const answers: unknown[] = [];
    for (const session of sessions) {
      const { observations } = await worlds.run(session, { start: 'new', judge });
      answers.push(observations.map(({ outcome }) => outcome.kind === 'result' && outcome.result['names']));
    }
    return { noted, answers };
  };

  it('sends the requests with which sessions begin once, if nothing else has changed their world', async () => {
    const ofResult = call('find', { name: '{{result.0/names/0}}' });
    const sessions = [[add, list], [add, ofResult], [add, add, list], [list], [add, list]];
    const shared = await runAll(sessions, { isSharing: true });
    expect(shared.noted).toEqual([
      ['add alpha', 'list', 'find alpha', 'add alpha', 'list'],
      ['list', 'add alpha', 'list'],
    ]);
    const alone = await runAll(sessions, {});
    // A reader may follow another one.
    expect(alone.noted).toHaveLength(4);
    expect(shared.answers).toEqual(alone.answers);
  });

  const readsBetween = [[list], [add, list], [add, add], [list, add], [call('add', { name: 'beta' })]];

  it('serves all sessions by one process, if a repeated session shows that the files hold all that it changed', async () => {
    const kept: KeptState = new Map();
    const { noted, answers } = await runAll(readsBetween, { store: 'file', kept });
    expect(noted).toHaveLength(1);
    expect([...kept]).toEqual([['add', 'files']]);
    // The first session that changed something runs twice, between the same answers of the reader.
    expect(noted[0]?.slice(1, 7)).toEqual(['add alpha', 'list', 'list', 'add alpha', 'list', 'list']);
    expect(answers).toEqual((await runAll(readsBetween, { store: 'file' })).answers);
  });

  it.each(['process', 'both'] as const)('starts another process where the state is in the %s', async (store) => {
    const kept: KeptState = new Map();
    const { noted, answers } = await runAll(readsBetween, { store, kept });
    const alone = await runAll(readsBetween, { store });
    expect(answers).toEqual(alone.answers);
    expect(noted).toHaveLength(alone.noted.length);
    expect([...kept]).toEqual(store === 'both' ? [['add', 'elsewhere']] : []);
  });

  it('serves calls that change nothing by the same process, if all known tools work on files alone', async () => {
    const touch = call('touch');
    const sessions = [[list], [add, list], [list], [touch], [list], [touch, list], [add]];
    const noted = async (store: Store) => (await runAll(sessions, { store, kept: new Map() })).noted.length;
    expect([await noted('file'), await noted('both')]).toEqual([1, 4]);
  });

  it('goes on in a world once the calls before are known to change nothing', async () => {
    const { source, noted } = openNotedWorlds('process');
    await using worlds = openVariant(source, firstVariant, { isEager: false, isSharing: true });
    const seen = new Set<string>();
    const judgeSeen = ({ request }: { request: ExploredRequest }) =>
      'tool' in request && seen.has(request.tool) ? ('clean' as const) : ('used' as const);
    for (const session of [[list], [list, list], [call('zone')], [call('zone'), call('zone')]]) {
      await worlds.run(session, { start: 'new', judge: judgeSeen });
      seen.add('list');
    }
    expect(noted).toEqual([['list', 'list', 'list', 'zone', 'zone']]);
    await worlds.run([call('last')], { start: 'new', judge: judgeSeen });
    expect(noted).toHaveLength(2);
  });

  it('believes no reader that shows more than the state: a log of all calls, or another value in each world', async () => {
    const elsewhere = call('touch');
    const sessions = [[call('log')], [call('world')], [list], [add], [list], [elsewhere], [add], [add], [add]];
    const kept: KeptState = new Map([['touch', 'elsewhere']]);
    const { noted, answers } = await runAll(sessions, { store: 'file', kept });
    // The second world begins after `touch`, and the third one where `world` is another one than in the first.
    expect(noted).toHaveLength(3);
    expect(kept.get('add')).toBe('files');
    expect(answers.slice(-3)).toEqual([[['alpha']], [['alpha']], [['alpha']]]);
    // What a confirmed reader shows stays.
    const state: KeptState = new Map();
    await runAll([[list], [add], [add], [add]], { store: 'both', kept: state });
    expect([...state]).toEqual([['add', 'elsewhere']]);
  });

  it('starts another process where only a repeated session shows the state of the first one', async () => {
    const kept: KeptState = new Map();
    const { answers } = await runAll([[add], [add]], { store: 'both', kept });
    expect(answers).toEqual([[['alpha']], [['alpha']]]);
    expect([...kept]).toEqual([['add', 'elsewhere']]);
  });
});

describe('takeSnapshot', () => {
  it('leaves logs out, also those that a day or a number ends', async () => {
    await using directory = await createWorkspace({ 'kept.txt': '' });
    const first = await takeSnapshot(directory.path);
    for (const name of ['a.log', 'a.log.2026-01-15', 'a.log.1', 'a.log.txt']) await directory.write(name, 'x');
    const { added } = compareSnapshots(first, await takeSnapshot(directory.path));
    expect(added).toEqual(['a.log.txt']);
  });
});

describe('takeSnapshot of a repository', () => {
  it('leaves out what git writes whenever it runs, and sees a commit', async () => {
    const files = { 'repo/.git/index': '1', 'repo/.git/refs/heads/main': '1', 'repo/index': '1' };
    await using directory = await createWorkspace(files);
    const first = await takeSnapshot(directory.path);
    for (const name of Object.keys(files)) await directory.write(name, '2');
    await directory.write('repo/.git/COMMIT_EDITMSG', 'x');
    const { added, changed } = compareSnapshots(first, await takeSnapshot(directory.path));
    expect([added, changed]).toEqual([[], ['repo/.git/refs/heads/main', 'repo/index']]);
  });
});

describe('takeSnapshot of a ZIP archive', () => {
  it('sees another content, and not another time', async () => {
    const zip = (time: string, text: string) => `PK\u0003\u0004v.f.m.${time}${text}PK\u0001\u0002v.v.f.m.${time}end`;
    await using directory = await createWorkspace({ 'a.docx': zip('0001', 'alpha'), 'b.txt': '0001' });
    const first = await takeSnapshot(directory.path);
    await directory.write('a.docx', zip('0002', 'alpha'));
    await directory.write('b.txt', '0002');
    const second = await takeSnapshot(directory.path, first);
    expect(compareSnapshots(first, second).changed).toEqual(['b.txt']);
    await directory.write('a.docx', zip('0002', 'gamma'));
    expect(compareSnapshots(second, await takeSnapshot(directory.path, second)).changed).toEqual(['a.docx']);
  });
});

describe('putBack', () => {
  it('removes, renews and restores what a server added, changed and removed', async () => {
    await using kept = await createWorkspace({ 'a.txt': 'alpha', 'docs/b.txt': 'beta', 'docs/deep/c.txt': 'gamma' });
    await using copy = await createWorkspace({});
    const files = await readWorkspace(kept.path, kept.path);
    await copyWorkspace(files, copy.path);
    const first = await takeSnapshot(copy.path);
    await writeFile(join(copy.path, 'a.txt'), 'longer than alpha');
    await rm(join(copy.path, 'docs'), { recursive: true });
    await mkdir(join(copy.path, 'new/empty'), { recursive: true });
    await writeFile(join(copy.path, 'new/d.txt'), 'delta');
    await putBack(copy.path, { first, now: await takeSnapshot(copy.path), files, started: new Map() });
    expect(compareSnapshots(first, await takeSnapshot(copy.path))).toEqual({ added: [], changed: [], removed: [] });
  });
});

describe('readStarted', () => {
  it('keeps what a server made as it started, so that it is put back, and nothing of the user', async () => {
    await using kept = await createWorkspace({ 'a.txt': 'alpha' });
    await using copy = await createWorkspace({});
    const files = await readWorkspace(kept.path, kept.path);
    await copyWorkspace(files, copy.path);
    await mkdir(join(copy.path, 'data'));
    await writeFile(join(copy.path, 'data/notes.db'), 'empty');
    const first = await takeSnapshot(copy.path);
    const started = await readStarted(copy.path, first, files);
    expect([...started.keys()]).toEqual(['data/notes.db']);
    const restore = async () => await putBack(copy.path, { first, now: await takeSnapshot(copy.path), files, started });
    await writeFile(join(copy.path, 'data/notes.db'), 'one note');
    await restore();
    expect(await readFile(join(copy.path, 'data/notes.db'), 'utf8')).toBe('empty');
    await rm(join(copy.path, 'data'), { recursive: true });
    await restore();
    expect(compareSnapshots(first, await takeSnapshot(copy.path))).toEqual({ added: [], changed: [], removed: [] });
    await writeFile(join(copy.path, 'data/large.db'), Buffer.alloc(5 * 2 ** 20));
    expect(await readStarted(copy.path, await takeSnapshot(copy.path), files)).toEqual(new Map());
  });
});

describe('replaySessions', () => {
  const sessions: ExploredRequest[][] = [[add], [add, list], [call('add', { name: 'beta' }), list], [list, add, list]];
  const replay = async (store: Store, extra: ExploredRequest[][] = []) => {
    const { source } = openNotedWorlds(store);
    const kept: KeptSession[] = [];
    for (const requests of [...sessions, ...extra]) {
      await using worlds = openVariant(source, firstVariant, { isEager: false });
      const { observations } = await worlds.run(requests, { start: 'own', judge: () => 'used' });
      const steps = requests.map((request, index) => ({ request, isValid: true, observation: observations[index]! }));
      kept.push({ run: { phase: 'chains', steps }, adds: [] });
    }
    const replays = openNotedWorlds(store);
    const { stable, flaky } = await replaySessions(kept, {
      source: replays.source,
      workspace: emptyWorkspace,
      alone: new Set<SessionRun>(kept.map(({ run }) => run)),
      isHarmless,
      time: { isOver: () => false },
    });
    const answers = stable.map(({ run }) => run.steps.map(({ observation: { outcome } }) => outcome));
    expect(flaky).toEqual([]);
    expect(answers.slice(0, sessions.length)).toEqual(
      kept.slice(0, sessions.length).map(({ run }) => run.steps.map(({ observation: { outcome } }) => outcome)),
    );
    return { answers, worlds: replays.noted.length };
  };

  it('needs one process for each kind of world, if the files of the workspace are all that a server keeps', async () => {
    // Sessions that change files are not replayed among other files. One kind has new processes for each of the two groups of sessions.
    expect((await replay('file')).worlds).toBe(4);
  });

  it('starts a process for each change, if the server keeps it in its process', async () => {
    // Of the four sessions, two begin with the same request, in each of the four kinds of worlds.
    expect((await replay('process')).worlds).toBe(3 * 4);
  });

  it('marks what a process remembers of earlier sessions, although its files were restored', async () => {
    const observe = (names: unknown[], added: string[] = []): Observation => ({
      outcome: { kind: 'result', isError: false, result: { names } },
      files: { added, changed: [], removed: [] },
      noise: null,
    });
    const keep = (...steps: Array<[ExploredRequest, Observation]>): KeptSession => ({
      run: {
        phase: 'chains',
        steps: steps.map(([request, observation]) => ({ request, isValid: true, observation })),
      },
      adds: [],
    });
    const added = observe(['alpha'], ['names']);
    // The last session began in a process that had served the first one, too. It changes files, so that no other files are tried.
    const kept = [
      keep([add, added]),
      keep([call('zone'), observe(['none'])]),
      keep([call('last'), observe(['alpha'])], [add, added]),
    ];
    const { stable } = await replaySessions(kept, {
      source: openNotedWorlds('file').source,
      workspace: emptyWorkspace,
      alone: new Set<SessionRun>(kept.map(({ run }) => run)),
      isHarmless,
      kept: new Map([['add', 'files']]),
      time: { isOver: () => false },
    });
    const shown = stable.map(({ run }) => JSON.stringify(run.steps[0]?.observation.outcome));
    expect(shown[0]).toContain('["alpha"]');
    expect(shown[2]).toContain('["{{any}}"]');
  });

  it('needs the files where another thing that was asked for is missing among other files', () => {
    const refuse = (name: string): Observation => ({
      outcome: { kind: 'error', code: -32_000, message: `There is no note with the name ${name}` },
      files: { added: [], changed: [], removed: [] },
      noise: null,
    });
    const steps = [{ request: call('read', { names: ['alpha', 'beta'] }), isValid: true, observation: refuse('beta') }];
    expect(dependsOnFiles(steps, [refuse('alpha')])).toBe(true);
    expect(dependsOnFiles(steps, [refuse('beta')])).toBe(false);
    expect(dependsOnFiles(steps, [refuse('beta in /tmp')])).toBe(false);
  });

  it('replays calls whose answers differ by chance in the same process', async () => {
    const count = async (isDrawn: (tool: string) => boolean) => {
      const { source, noted } = openNotedWorlds('process');
      const kept = Array.from({ length: 3 }, (_, index): KeptSession => {
        const request = call('draw', { index });
        const outcome = { kind: 'result' as const, isError: false, result: { names: [0] } };
        const observation = { outcome, files: { added: [], changed: [], removed: [] }, noise: null };
        return { run: { phase: 'examples', steps: [{ request, isValid: true, observation }] }, adds: [] };
      });
      const { stable } = await replaySessions(kept, {
        source,
        workspace: emptyWorkspace,
        alone: new Set<SessionRun>(kept.map(({ run }) => run)),
        isHarmless: isDrawn,
        isDrawn,
        time: { isOver: () => false },
      });
      expect(stable.map(({ run }) => JSON.stringify(run.steps[0]?.observation.outcome))).toEqual(
        Array.from({ length: 3 }, () => '{"kind":"result","isError":false,"result":{"names":["{{any}}"]}}'),
      );
      return noted.length;
    };
    // One kind of worlds has a new process for each of the two groups of sessions.
    expect(await count((tool) => tool === 'draw')).toBe(5);
    expect(await count(() => false)).toBeGreaterThan(10);
  });

  it('sends calls whose answers differ by chance several times in each world', async () => {
    const throwCoin = async (isDrawn: boolean) => {
      const request = call('coin');
      const outcome = { kind: 'result' as const, isError: false, result: { names: ['heads'] } };
      const observation = { outcome, files: { added: [], changed: [], removed: [] }, noise: null };
      const run = { phase: 'examples' as const, steps: [{ request, isValid: true, observation }] };
      const { stable } = await replaySessions([{ run, adds: [] }], {
        source: openNotedWorlds('process').source,
        workspace: emptyWorkspace,
        alone: new Set<SessionRun>([run]),
        isHarmless: () => true,
        isDrawn: () => isDrawn,
        time: { isOver: () => false },
      });
      return stable.map((session) => session.run.steps.map(({ observation: { outcome } }) => outcome));
    };
    // The first throw in each of the four worlds shows heads.
    expect(await throwCoin(false)).toMatchObject([[{ result: { names: ['heads'] } }]]);
    expect(await throwCoin(true)).toMatchObject([[{ result: { names: ['{{any}}'] } }]]);
  });

  it('marks what another time zone changes in a process that serves several sessions', async () => {
    const { answers } = await replay('file', [[add, call('zone')]]);
    expect(JSON.stringify(answers.at(-1)?.[1])).toContain('{{any}}');
  });
});
