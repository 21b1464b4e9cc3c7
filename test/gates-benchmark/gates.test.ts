import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Cell, runCell } from '../../bench/gates/cell.ts';
import { differs, findStable, maskForms } from '../../bench/gates/compare.ts';
import type { Contestant, Gate } from '../../bench/gates/contestant.ts';
import { contestant as surface } from '../../bench/gates/contestants/surface.ts';
import {
  type Bug,
  type Change,
  findHalf,
  formatRefusal,
  hashPatch,
  readBugs,
  readSound,
} from '../../bench/gates/corpus.ts';
import { formatAlarms, judgeCell, type PageInput, renderPage } from '../../bench/gates/page.ts';
import { drawScatter } from '../../bench/gates/scatter.ts';
import { createWorkspace } from '../support/workspace.ts';
import { countProven, proveChanges } from '../../bench/gates/prove.ts';
import { drawSample } from '../../bench/gates/sample.ts';
import { runSession } from '../../bench/gates/session.ts';
import { drawHeldOut, exists, installServer, openRig, readServers } from '../../bench/gates/servers.ts';

const servers = await readServers();
const findServer = (name: string) => servers.find((server) => server.name === name)!;

function createBug(server: string, bug: Pick<Bug, 'id' | 'file' | 'search' | 'replacement'> & Partial<Bug>): Bug {
  const proof = { kind: 'shown' as const, calls: [] };
  const rest = { notice: 'A test notices it', origin: 'authored', reference: null, proof };
  return { kind: 'bug', class: 'description', ...rest, ...bug, server };
}

const shownBugs = [
  createBug('memory', {
    id: 'tool-renamed',
    file: 'dist/index.js',
    search: 'server.registerTool("read_graph"',
    replacement: 'server.registerTool("read_all"',
  }),
  createBug('memory', {
    id: 'graph-always-empty',
    file: 'dist/index.js',
    search: 'return this.loadGraph();',
    replacement: 'return { entities: [], relations: [] };',
  }),
];

const answerBugs = [
  createBug('memory', {
    id: 'relation-without-ends',
    file: 'dist/index.js',
    search: 'return this.loadGraph();',
    replacement: 'return { entities: [], relations: [{ from: "nowhere", to: "b", relationType: "c" }] };',
  }),
  createBug('memory', {
    id: 'described-otherwise',
    file: 'dist/index.js',
    search: 'Read the entire knowledge graph',
    replacement: 'Read the graph',
  }),
];

/** Judges by what is in the copy, and starts nothing. */
const readingGate: Contestant = {
  title: 'One text',
  kind: 'person',
  kept: [],
  install: async () => await Promise.resolve({ version: '1' }),
  async prepare() {
    await Promise.resolve();
  },
  async check({ project }: Gate) {
    const text = await readFile(join(project, 'server/dist/index.js'), 'utf8');
    return { fails: text.includes('nowhere'), findings: [] };
  },
  countLines: async () => await Promise.resolve(1),
};

interface CellSettings {
  name: string;
  contestant: Contestant;
  changes: readonly Change[];
  repeats?: number;
  limitMs?: number;
  isHeldOut?: boolean;
  directory?: string;
}

async function measure(server: string, settings: CellSettings) {
  const { name, contestant, repeats = 1, isHeldOut = false, ...rest } = settings;
  const directory = settings.directory ?? (await createDirectory());
  const log: string[] = [];
  const { cell, refusals } = await runCell(findServer(server), {
    ...rest,
    contestant: { name, contestant, version: '1' },
    level: 'none',
    commit: 'test',
    directory,
    repeats,
    isHeldOut,
    isRevealed: false,
    log: (line) => log.push(line),
  });
  return { cell, refusals, log, directory };
}

async function createDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'gates-test-'));
  onTestFinished(async () => await rm(directory, { recursive: true }));
  return directory;
}

function listCaught({ measured, server }: Cell): boolean[][] {
  return judgeCell({ measured, server })
    .filter(({ kind }) => kind === 'bug')
    .map(({ fails, reports }) => [fails, reports]);
}

describe('a copy of a server', () => {
  it('works in the directory that it is given, instead of its own files', async () => {
    await using rig = await openRig(findServer('memory'));
    await rig.lay(null);
    const directory = await createDirectory();
    const entity = { type: 'entity', name: 'Grace', entityType: 'person', observations: [] };
    await writeFile(join(directory, 'memory.jsonl'), JSON.stringify(entity));
    const start = join(directory, 'start');
    await writeFile(start, `#!/bin/sh\nexec '${rig.start}' '${directory}'\n`, { mode: 0o755 });
    const calls = [{ tool: 'read_graph' }];
    const [own] = (await runSession(calls, { start: rig.start, cwd: rig.project })).answers;
    const [given] = (await runSession(calls, { start, cwd: directory })).answers;
    expect(own).toContain('Ada');
    expect(given).toContain('Grace');
    expect(given).not.toContain('Ada');
  });
});

describe('a cell', () => {
  it('has what the surface of server-memory shows of a bug, and of no bug, in two columns', async () => {
    const { cell } = await measure('memory', { name: 'surface', contestant: surface, changes: [shownBugs[0]!] });
    expect(judgeCell(cell).map(({ kind, fails, reports }) => [kind, fails, reports])).toEqual([
      ['repeat', false, false],
      ['bug', true, true],
    ]);
    expect(cell.measured.map(({ runs }) => runs.every(({ outcome }) => outcome === 'done'))).not.toContain(false);
  });

  it('goes on where it stopped, and shows nothing of a bug of a server that is held out', async () => {
    const [answered, ...others] = answerBugs;
    const settings = { name: 'text', contestant: readingGate, isHeldOut: true };
    const { directory } = await measure('memory', { ...settings, changes: [answered!] });
    const before = await readFile(join(directory, 'memory.text.none.jsonl'), 'utf8');
    const { cell, log } = await measure('memory', { ...settings, changes: [answered!, ...others], directory });
    const after = await readFile(join(directory, 'memory.text.none.jsonl'), 'utf8');
    expect(after.startsWith(before)).toBe(true);
    expect(listCaught(cell)).toEqual([
      [true, true],
      [false, false],
    ]);
    expect(log).toEqual([]);
    expect(after).not.toContain('described-otherwise');
  });

  it('counts a gate that hangs as such, and as no catch', async () => {
    const check: Contestant['check'] = async (gate) => {
      await gate.run(['sleep', '600']);
      return { fails: true, findings: [] };
    };
    const { cell } = await measure('memory', {
      name: 'sleeper',
      contestant: { ...readingGate, check },
      changes: [shownBugs[0]!],
      repeats: 0,
      limitMs: 100,
    });
    expect(cell.measured[0]!.runs.map(({ outcome, fails }) => [outcome, fails])).toEqual([
      ['hung', false],
      ['hung', false],
    ]);
  });

  it.runIf(process.platform === 'linux')('leaves neither its files nor a process that a gate started', async () => {
    const marks: string[] = [];
    const check: Contestant['check'] = async (gate) => {
      marks.push(gate.project);
      await gate.run(['sh', '-c', 'sh -c "sleep 600; : $0" "$0" > /dev/null 2>&1 &', gate.project]);
      return { fails: false, findings: [] };
    };
    await measure('memory', { name: 'leaver', contestant: { ...readingGate, check }, changes: [shownBugs[0]!] });
    expect(marks.length).toBeGreaterThan(0);
    expect(await exists(marks[0]!)).toBe(false);
    const listLeft = async () => {
      const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
      const commands = await Promise.all(
        processes.map(async (id) => await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')),
      );
      return commands.filter((command) => command.includes(marks[0]!));
    };
    // The kernel ends them a moment after the signal.
    await expect.poll(listLeft).toEqual([]);
  });

  it('refuses a bug whose text does not occur exactly once, and measures the others', async () => {
    const changes = [
      createBug('memory', { id: 'absent', file: 'dist/index.js', search: 'no such text', replacement: '' }),
      createBug('memory', { id: 'often', file: 'dist/index.js', search: 'graph.entities', replacement: '' }),
      shownBugs[1]!,
    ];
    const check: Contestant['check'] = async () => await Promise.resolve({ fails: false, findings: [] });
    const { cell, refusals } = await measure('memory', {
      name: 'none',
      contestant: { ...readingGate, check },
      changes,
    });
    expect(refusals.map(formatRefusal)).toEqual([
      expect.stringMatching(/^bugs\/memory\/absent\.json: its search text occurs 0 times in the file\. Quote /),
      expect.stringMatching(/^bugs\/memory\/often\.json: its search text occurs \d+ times in the file\. Quote /),
    ]);
    expect(cell.measured.filter(({ kind }) => kind === 'bug')).toHaveLength(1);
  });
});

describe('a proof', () => {
  it('refuses a bug that answers as before, with file and remedy', async () => {
    const calls = [{ tool: 'read_graph', arguments: {} }];
    // All proofs make the same calls, so that the unchanged server makes them once for all.
    const bugs = [
      createBug('memory', { ...answerBugs[1]!, proof: { kind: 'answer', calls } }),
      createBug('memory', {
        ...answerBugs[0]!,
        proof: { kind: 'answer', calls: [{ tool: 'search_nodes', arguments: {} }] },
      }),
      createBug('memory', { ...answerBugs[0]!, proof: { kind: 'answer', calls } }),
    ];
    await using corpus = await createWorkspace();
    const server = findServer('memory');
    const proofs = await proveChanges(server, bugs, { isAgain: true, corpus: corpus.path, onProof: () => {} });
    expect(proofs.map(({ refusal }) => (refusal === null ? null : formatRefusal(refusal)))).toEqual([
      'bugs/memory/described-otherwise.json: its proof differs in 0 of 3 runs, not in 3. Make calls that show the bug, or remove the file.',
      expect.stringContaining('a call of search_nodes is invalid'),
      null,
    ]);
    expect(await countProven(server, bugs, corpus.path)).toBe(1);
    expect(await countProven(server, [{ ...bugs[2]!, notice: 'It has other words.' }], corpus.path)).toBe(0);
  });

  it('takes for stable what runs of one side agree on, and for a difference nothing that reads as a time', () => {
    const stable = findStable(['id 1 at 10:00:01 of 2024-01-01T00:00:00Z', 'id 2 at 10:00:03 of 2024-01-01T00:00:09Z']);
    expect(differs(stable!, 'id 7 at 9:59:59 of 2031-12-31T10:00:00Z')).toBe(false);
    expect(differs(stable!, 'id 7 after 9:59:59 of 2031-12-31T10:00:00Z')).toBe(true);
    expect(findStable(['one', 'one two'])).toBeNull();
    expect(maskForms('at 2:08:26 AM')).toBe('at ‹time›');
  });
});

describe('a server', () => {
  it('is refused in one line if its files have another hash', async () => {
    const changed = { ...findServer('memory'), sha256: '0'.repeat(64) };
    await expect(installServer(changed)).rejects.toThrow(
      /^bench\/gates\/servers\/memory\/server\.json: .* has the hash [0-9a-f]{64}, not 0+\. Install /,
    );
  });

  it('is held out by a draw that does not depend on the order of names', () => {
    const names = servers.map(({ name }) => name);
    expect(drawHeldOut(names.toReversed())).toEqual(drawHeldOut(names));
    expect(drawHeldOut(names).size).toBe(3);
  });
});

describe('the corpus', () => {
  const root = fileURLToPath(new URL('../../bench/gates', import.meta.url));

  it('can be read, and its texts occur once in the servers that this repository installs', async () => {
    for (const { name, ecosystem, package: packaged } of servers) {
      const [bugs, sound] = [await readBugs(root, name), await readSound(root, name)];
      expect([...bugs.refusals, ...sound.refusals]).toEqual([]);
      if (ecosystem !== 'npm') continue;
      for (const { id, file, search } of [...bugs.changes, ...sound.changes]) {
        const path = fileURLToPath(new URL(`../../node_modules/${packaged}/${file}`, import.meta.url));
        expect([id, (await readFile(path, 'utf8')).split(search).length]).toEqual([id, 2]);
      }
    }
  });

  it('has both halves, which no name decides', async () => {
    const { changes } = await readBugs(root, 'filesystem');
    expect(new Set(changes.map(findHalf)).size).toBe(2);
    const [first] = changes;
    expect(findHalf({ ...first!, id: 'another', notice: 'Another' } as Bug)).toBe(findHalf(first!));
  });
});

describe('a sample', () => {
  const changes = (server: string, count: number) =>
    Array.from({ length: count }, (_, index) =>
      createBug(server, { id: String(index), file: 'a.js', search: `${server} ${index}`, replacement: '' }),
    );

  it('takes of each server in turn, whatever each has', () => {
    const corpus = new Map([
      ['one', changes('one', 50)],
      ['two', changes('two', 2)],
      ['three', changes('three', 20)],
    ]);
    const drawn = [...drawSample(corpus, '7,0', 1)].map(({ server }) => server);
    expect(drawn.toSorted()).toEqual(['one', 'one', 'one', 'three', 'three', 'two', 'two']);
  });

  it('stays as it was but for one, if a change is added', () => {
    const before = drawSample(new Map([['one', changes('one', 50)]]), '10,0', 1);
    const after = drawSample(new Map([['one', changes('one', 51)]]), '10,0', 1);
    const ids = new Set([...before].map(({ id }) => id));
    expect([...after].filter(({ id }) => !ids.has(id)).length).toBeLessThanOrEqual(1);
  });
});

describe('the table', () => {
  const run = { outcome: 'done' as const, fails: false, reports: false, seconds: 1 };

  it('counts no signal that the unchanged server gives, too', () => {
    const noisy = { ...run, reports: true };
    const measured = [
      { key: 'base 0', kind: 'repeat' as const, runs: [noisy] },
      {
        key: 'a',
        kind: 'bug' as const,
        runs: [
          { ...noisy, fails: true },
          { ...noisy, fails: true },
        ],
      },
    ];
    expect(judgeCell({ server: 'memory', measured })[1]).toMatchObject({ fails: true, reports: false });
  });

  it('shows no alarm with the rate that so many could have missed', () => {
    const silent = {
      server: 'memory',
      kind: 'silent' as const,
      key: '',
      class: undefined,
      fails: false,
      reports: false,
    };
    const results = Array.from({ length: 80 }, () => ({ ...silent, runs: [run] }));
    expect(formatAlarms(results, 'silent', 'fails')).toBe('0 of 80, below 4.5 %');
  });

  it('has rows of what was measured only, and names the others with the reason', async () => {
    const text = await renderPage(await createInput());
    expect(text).toContain('| One text | `call` |');
    expect(text).not.toMatch(/^\|.*Not (?:run|had)/m);
    expect(text).toContain('- Not run; Not run either: not measured in this run.\n- Not had: no registry has it.');
    const byServer = text.split('## By server')[1]!.split('## ')[0]!;
    expect(byServer.match(/^\| (?:filesystem|go-memory|git)\b/gm)).toEqual(['| filesystem', '| go-memory']);
  });

  it('says how many changes of each server were proven', async () => {
    const corpus = (await renderPage(await createInput())).split('## Corpus')[1]!;
    expect(corpus).toMatch(/^\| go-memory \|.*\| 1 of 1 \|$/m);
    expect(corpus).toMatch(/^\| filesystem \|.*\| 0 of 2 \|$/m);
  });

  it('names the servers on which a gate fails without any change', async () => {
    const input = await createInput();
    const [first] = input.cells;
    const repeat = { key: 'base 0', kind: 'repeat' as const, runs: [{ ...run, fails: true, reports: true }] };
    const text = await renderPage({ ...input, cells: [{ ...first!, measured: [...first!.measured, repeat] }] });
    expect(text).toContain(
      '- `call` fails on the unchanged server of filesystem: nothing that it shows there counts as a catch.',
    );
    expect(await renderPage(input)).not.toContain('fails on the unchanged server of');
  });

  it('puts the strength of evals next to the bugs that their gates fail on, where both were measured', async () => {
    const input = await createInput();
    const section = (await renderPage(input)).split('## Strength of evals')[1]!.split('\n## ')[0]!;
    expect(section.match(/^\| (?:filesystem|memory) .*/gm)).toEqual([
      '| filesystem | `call` | 3 of 4, 75 % (30 % to 95 %) | 0 of 2, 0 % (0 % to 66 %) |',
    ]);
    expect(await renderPage({ ...input, strengths: [] })).not.toContain('## Strength of evals');
    const share = { passed: 1, total: 2, rate: 0.5, lower: 0.1, upper: 0.9 };
    const drawn = drawScatter([{ server: 'a<b', contestant: 'call', noticed: share, caught: share }], 'dark');
    expect(drawn.match(/<circle/g)).toHaveLength(1);
    expect(drawn).toContain('a&lt;b, call');
  });

  it('writes the names of two servers that are alike below each other', () => {
    const share = { passed: 1, total: 2, rate: 0.5, lower: 0.1, upper: 0.9 };
    const points = ['one', 'two'].map((server) => ({ server, contestant: 'call', noticed: share, caught: share }));
    const tops = [...drawScatter(points, 'light').matchAll(/y="([\d.]+)"[^>]*>(?:one|two), call</g)].map(
      ([, top]) => top,
    );
    expect(new Set(tops).size).toBe(2);
  });

  it('says what a small sample cannot show', async () => {
    const text = await renderPage(await createInput());
    expect(text).toContain('small, 2 to 3 bugs a gate');
    expect(text).toContain('(a load average of 2 in the middle, 2 at most)');
  });

  it('names the bugs that this project loses, and what each exploration missed, and no bug of the other half', async () => {
    const text = await renderPage(await createInput());
    const section = (title: string) => text.split(`## ${title}`)[1]!.split('\n## ')[0]!;
    expect(section('Where this project loses')).toContain(
      '- `behaviour`, confined does not report 2 bugs that others report: `call` 2.\n  - filesystem, order: The list is reversed.',
    );
    expect(section('What would teach the explorer most')).toContain(
      '- filesystem, order: The list is reversed (missed by `behaviour`, confined; calls of `list` show it; `call` reports it).',
    );
    expect(section('Bugs that no gate caught')).toContain('- go-memory, field: The name is gone (1 row).');
    expect(text).not.toContain('A measured one');
  });

  async function createInput(): Promise<PageInput> {
    const draw = (half: 'development' | 'measured', bug: Partial<Bug> & Pick<Bug, 'id' | 'notice'>) =>
      Array.from({ length: 20 }, (_, index) =>
        createBug(bug.server ?? 'filesystem', { file: 'a.js', search: `${bug.id} ${index}`, replacement: '', ...bug }),
      ).find((each) => findHalf(each) === half)!;
    const proof = { kind: 'answer' as const, calls: [{ tool: 'list' }, { tool: 'list', arguments: {} }] };
    const reversed = draw('development', { id: 'reversed', class: 'order', notice: 'The list is\nreversed.', proof });
    const measured = draw('measured', { id: 'measured', notice: 'A measured one' });
    const lost = draw('development', { id: 'lost', server: 'go-memory', class: 'field', notice: 'The name is gone' });
    const cell = (
      server: string,
      contestant: string,
      level: 'none' | 'confined',
      caught: ReadonlyArray<[Bug, boolean]>,
    ): Cell => ({
      server,
      contestant,
      level,
      version: '1',
      commit: 'test',
      lines: 0,
      isHeldOut: false,
      measured: caught.map(([bug, reports]) => ({
        key: hashPatch(bug),
        kind: 'bug',
        class: bug.class,
        load: caught.length,
        runs: [
          { ...run, reports },
          { ...run, reports },
        ],
      })),
    });
    const strength = { commit: 'test', harmful: { noticed: 3, of: 4 }, harmless: { tolerated: 1, of: 1 } };
    const titled = (name: string, title: string) => ({ name, contestant: { ...readingGate, title } });
    return {
      cells: [
        cell('filesystem', 'call', 'none', [
          [reversed, true],
          [measured, true],
        ]),
        cell('go-memory', 'call', 'none', [[lost, false]]),
        cell('filesystem', 'behaviour', 'confined', [
          [reversed, false],
          [measured, false],
        ]),
        cell('go-memory', 'behaviour', 'confined', []),
      ],
      changes: [reversed, measured, lost],
      servers,
      heldOut: new Set(['memory']),
      contestants: [
        titled('behaviour', 'The explorer'),
        titled('call', 'One text'),
        titled('skipped', 'Not run'),
        titled('idle', 'Not run either'),
        titled('absent', 'Not had'),
      ],
      missing: new Map([['absent', 'no registry has it']]),
      proven: new Map([['go-memory', 1]]),
      strengths: [
        { ...strength, server: 'filesystem', contestant: 'call' },
        // No bug was run at this server.
        { ...strength, server: 'memory', contestant: 'call' },
      ],
    };
  }
});
