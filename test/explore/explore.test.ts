import { statSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { isAnswered, isRefused } from '../../src/explore/answers.ts';
import { type Exploration, type ExploredSession } from '../../src/explore/exploration.ts';
import { nameRequest, readArguments } from '../../src/model/explored-request.ts';
import { pickFeatures } from '../../src/explore/features/feature.ts';
import { draftCases } from '../../src/explore/draft/draft-cases.ts';
import { readOutcomeText } from '../../src/explore/stability/texts.ts';
import { exploreInTest, knownServers, listFindings, nameExploredServer } from '../support/explore.ts';
import { createWorkspace } from '../support/workspace.ts';

/** Lists the tools that answer in a session of the corpus. */
function listAnswered({ sessions }: Exploration): string[] {
  const names = sessions.flatMap(({ steps }) =>
    steps.flatMap(({ request, observation }) =>
      request.kind === 'tool' && isAnswered(observation) ? [request.tool] : [],
    ),
  );
  return [...new Set(names)].toSorted();
}

/** Lists the tools that the coverage counts as answered. */
function listCovered({ coverage }: Exploration): string[] {
  return coverage.byTool
    .filter((each) => each.isAnswered)
    .map(({ tool }) => tool)
    .toSorted();
}

const draftEverything = {
  suiteWorkspace: 'files' as const,
  limit: 40,
  ids: new Set<string>(),
  isWanted: () => true,
  keepsFiles: false,
};

const answers =
  (name: string) =>
  ({ adds }: ExploredSession) =>
    pickFeatures(adds, 'tool').some(({ subject }) => subject === name);

const listAdds = ({ sessions }: Exploration) => sessions.flatMap(({ adds }) => adds);

describe('exploreAndCheck', () => {
  let notes: Exploration;
  beforeAll(async () => {
    notes = await exploreInTest(nameExploredServer('notes', 'words', 'dates'));
  });

  it.each([
    ['tools that write', nameExploredServer('notes', 'destructive-hint-missing')],
    // Its environment has paths of the directory of all worlds.
    ['a tool that prints its environment', nameExploredServer('environment')],
  ])('gives the same bytes for the same seed and %s, also of a server in this process', async (_, command) => {
    const first = await exploreInTest(command, { seed: 7, budget: 60, server: 'process' });
    const second = await exploreInTest(command, { seed: 7, budget: 60, server: 'in-process' });
    expect(JSON.stringify(second)).toBe(JSON.stringify(first));
  });

  it('learns values from results, refusals and other tools', () => {
    expect(notes.coverage.tools).toEqual({ reached: 8, of: 8 });
    expect(notes.coverage.parameters).toEqual({ reached: 8, of: 8 });
    // A random id is a reference to the result that has it.
    const get = notes.sessions.find(answers('get_note'));
    expect(get?.steps.map(({ request }) => request)).toEqual([
      expect.objectContaining({ tool: 'create_note' }),
      { kind: 'tool', tool: 'get_note', arguments: { noteId: '{{result.0/structuredContent/id}}' } },
    ]);
    const special = notes.sessions.find(({ adds }) =>
      pickFeatures(adds, 'trait').some(({ tool, trait }) => tool === 'create_note' && trait === 'special'),
    );
    expect(special?.steps.map(({ request }) => nameRequest(request))).toEqual(['create_note', 'list_notes']);
    expect(JSON.stringify(special?.steps[1]?.observation)).toContain('$& and <é>');
    expect(listAdds(notes)).toEqual(
      expect.arrayContaining([
        { kind: 'state', reader: 'list_notes', writer: 'create_note' },
        { kind: 'state', reader: 'list_notes', writer: 'delete_note' },
      ]),
    );
  });

  it('takes ids out of sentences, for a chain of three tools', async () => {
    const exploration = await exploreInTest(nameExploredServer('chores'));
    expect(listAnswered(exploration)).toEqual(['execute_chore', 'show_chore', 'split_work', 'verify_chore']);
    const { cases } = draftCases(exploration, draftEverything);
    const drafted = cases.find(
      ({ content }) => content['title'] === 'verify_chore answers with choreId after split_work',
    );
    expect(drafted?.content['steps']).toEqual([
      {
        toolCall: 'split_work',
        arguments: { work: 'alpha' },
        capture: { id1: { path: '/content/0/text', matches: 'ID:\\*\\* `([0-9a-fA-F-]{36})' } },
      },
      { toolCall: 'execute_chore', arguments: { choreId: '{{id1}}' } },
      { toolCall: 'verify_chore', arguments: { choreId: '{{id1}}' } },
      { assert: { toolResultEquals: 'Verified.' } },
    ]);
  });

  it('keeps an answered session of each tool that answered, with the calls before it that it needs', async () => {
    const exploration = await exploreInTest(nameExploredServer('remarks'));
    expect(exploration.coverage.tools).toEqual({ reached: 3, of: 3 });
    expect(listAnswered(exploration)).toEqual(['add_remark', 'create_entity', 'publish']);
    const session = (tool: string) => exploration.sessions.find(answers(tool));
    const print = (tool: string) =>
      session(tool)?.steps.map(({ request, observation }) => `${nameRequest(request)} ${isAnswered(observation)}`);
    expect(print('create_entity')).toEqual(['create_entity true']);
    expect(print('add_remark')).toEqual(['create_entity true', 'add_remark true']);
    expect(print('publish')).toEqual(['create_entity true', 'publish true']);
  });

  it('asks a reader for what another one has shown, links two things, and reads after a dry run', async () => {
    const exploration = await exploreInTest(nameExploredServer('places'));
    const sent = (tool: string) =>
      exploration.sessions.flatMap(({ steps }) =>
        steps.flatMap(({ request, isValid }) =>
          request.kind === 'tool' && request.tool === tool && isValid === true ? [request.arguments] : [],
        ),
      );
    expect(sent('open_places')).toContainEqual({ names: ['Rome'] });
    expect(sent('add_road')[0]).toEqual({ road: { from: 'Rome', to: 'Oslo' } });
    expect(listAdds(exploration)).toContainEqual({
      kind: 'kept',
      reader: 'read_map',
      writer: 'add_road',
      option: 'dryRun',
    });
    expect(listAdds(exploration)).toContainEqual({ kind: 'state', reader: 'read_map', writer: 'remove_signs' });
    const { cases } = draftCases(exploration, draftEverything);
    const dry = cases.filter(({ content }) => content['title'] === 'read_map sees no change by add_road with dryRun');
    const steps = dry.flatMap(({ content }) => content['steps'] as object[]);
    expect(steps.map((step) => 'assert' in step)).toEqual([false, true, false, false, true]);
  });

  it('takes a result that reads like an error for a refusal, and finds the calls before it with which it is none', async () => {
    const exploration = await exploreInTest(nameExploredServer('pages'));
    expect(listCovered(exploration)).toEqual(['add_title', 'create_page', 'show_page']);
    const titled = exploration.sessions.find(answers('add_title'));
    expect(titled?.steps.map(({ request }) => nameRequest(request))).toEqual(['create_page', 'add_title']);
    expect(exploration.unexplored).toEqual([
      { subject: 'print_page', reason: 'it refused every call, the last one with: Failed to print: no printer' },
    ]);
    const shown = exploration.coverage.byTool.find(({ tool }) => tool === 'show_page');
    expect(shown?.errorPaths.reached).toContain('unknown');
  });

  it('keeps what a tool that needs the network refuses before it uses it: other forms of URLs, and its own machine', async () => {
    const exploration = await exploreInTest(nameExploredServer('sites'));
    const { cases, left } = draftCases(exploration, draftEverything);
    expect(cases.slice(0, 2).map(({ content }) => content['steps'])).toEqual([
      [
        { toolCall: 'fetch_site', arguments: { url: 'data:text/plain,hello' } },
        { assert: { toolResultEquals: { error: 'only URLs of http are allowed' }, partial: true } },
      ],
      [
        { toolCall: 'fetch_site', arguments: { url: 'http://127.0.0.1/' } },
        { assert: { toolResultEquals: { error: '127.0.0.1 is not public' }, partial: true } },
      ],
    ]);
    expect(left).toEqual([]);
    // What each call of a tool is answered with says nothing of one of them.
    const others = draftCases(await exploreInTest(nameExploredServer('pages')), draftEverything);
    const titles = others.cases.map(({ content }) => String(content['title']));
    expect(titles.filter((title) => title.startsWith('print_page'))).toEqual([
      'print_page refuses a call without pageName',
    ]);
  });

  it('completes arguments from nothing and from a start, changes what a prompt refuses, and gets it with what it requires alone', async () => {
    const exploration = await exploreInTest(nameExploredServer('tours'));
    const { cases } = draftCases(exploration, draftEverything);
    expect(cases.map(({ content }) => [content['title'], content['steps']])).toEqual([
      [
        'Completes city of plan_tour',
        [{ complete: 'city', prompt: 'plan_tour' }, { assert: { completionEquals: ['Oslo', 'Riga', 'Rome'] } }],
      ],
      [
        'Completes city of plan_tour from "R"',
        [{ complete: 'city', prompt: 'plan_tour', value: 'R' }, { assert: { completionEquals: ['Riga', 'Rome'] } }],
      ],
      [
        'Completes street of plan_tour',
        [
          { complete: 'street', prompt: 'plan_tour', arguments: { city: 'Oslo' } },
          { assert: { completionEquals: ['Akersgata', 'Bygata'] } },
        ],
      ],
      [
        'Completes street of plan_tour from "B"',
        [
          { complete: 'street', prompt: 'plan_tour', value: 'B', arguments: { city: 'Oslo' } },
          { assert: { completionEquals: ['Bygata'] } },
        ],
      ],
      [
        'Gets the prompt plan_tour with city, street and days',
        [
          { getPrompt: 'plan_tour', arguments: { city: 'Oslo', street: 'Akersgata', days: '1' } },
          { assert: { promptContains: 'Plan a tour of Oslo, from Akersgata, of 1 days.' } },
        ],
      ],
      [
        'Gets the prompt plan_tour with city',
        [
          { getPrompt: 'plan_tour', arguments: { city: 'Oslo' } },
          { assert: { promptContains: 'Plan a tour of Oslo, from any street, of 1 days.' } },
        ],
      ],
    ]);
    const without = await exploreInTest(nameExploredServer('sites'));
    expect(JSON.stringify(without.sessions)).not.toContain('"completion"');
  });

  it('shows both sides of a limit that only a refusal names', async () => {
    const exploration = await exploreInTest(nameExploredServer('radio'));
    expect(listAdds(exploration).filter(({ kind }) => kind === 'limit')).toEqual([
      { kind: 'limit', tool: 'set_volume', name: 'level', isUpper: true },
      { kind: 'limit', tool: 'use_band', name: 'band', isUpper: true },
      { kind: 'limit', tool: 'name_station', name: 'name', isUpper: true },
      { kind: 'limit', tool: 'set_volume', name: 'level', isUpper: false },
      { kind: 'limit', tool: 'use_band', name: 'band', isUpper: false },
    ]);
    const { cases } = draftCases(exploration, draftEverything);
    const steps = new Map(cases.map(({ content }) => [content['title'], content['steps']]));
    expect([...steps.keys()]).toEqual(
      expect.arrayContaining([
        'set_volume refuses level above 1100',
        'set_volume refuses level below 0',
        'use_band refuses band above 4',
        'name_station refuses name above 30 characters',
      ]),
    );
    expect(steps.get('set_volume refuses level above 1100')).toEqual([
      { toolCall: 'set_volume', arguments: { level: 1100 } },
      { assert: { toolResultEquals: 'The volume is 1100.' } },
      { toolCall: 'set_volume', arguments: { level: 1101 } },
      { assert: { toolError: { contains: 'level must be between 0 and 1,100' } } },
    ]);
  });

  it('finds the maker of what a refusal misses among many, and sees a failure in a document', async () => {
    const { sessions, unexplored, flaky } = await exploreInTest(nameExploredServer('sheets'));
    expect([unexplored, flaky]).toEqual([[], []]);
    const painted = sessions.find(answers('paint_cell'));
    expect(painted?.steps.map(({ request }) => nameRequest(request))).toEqual([
      'create_sheet',
      'add_row',
      'paint_cell',
    ]);
  });

  it('keeps the call that a server refused until the user has opened a URL before its repetition', async () => {
    const { sessions, flaky } = await exploreInTest(nameExploredServer('consent'));
    const opened = sessions.filter(({ steps }) => JSON.stringify(steps).includes('"opened '));
    expect(opened).not.toEqual([]);
    for (const { steps } of opened) {
      const calls = steps.map(({ request }) => nameRequest(request));
      expect(calls.filter((name) => name === 'open_site')).toHaveLength(2);
    }
    expect(flaky).toEqual([]);
  });

  it('makes, names and removes several things of a list at once, with a reader after each call', async () => {
    const { sessions } = await exploreInTest(nameExploredServer('graph'), { budget: 300 });
    const list = (tool: string, parameter: string) => {
      const found = sessions.find(({ adds }) =>
        pickFeatures(adds, 'several').some((each) => each.tool === tool && each.name === parameter),
      );
      const calls = found?.steps.filter(({ request }) => !nameRequest(request).startsWith('list_')) ?? [];
      return calls.map(({ request }) => readArguments(request));
    };
    const [alpha, omega, kappa] = ['alpha', 'omega', 'kappa'].map((personName) => ({ personName, city: 'Berlin' }));
    const people = { people: [alpha, omega, { ...alpha, city: 'Omega' }, kappa] };
    const tie = { from: 'alpha', to: 'omega', kind: 'gamma' };
    const back = { ...tie, from: 'omega', to: 'alpha' };
    const ties = { ties: [tie, { ...tie, from: 'kappa' }, { ...tie, to: 'kappa' }, { ...tie, kind: 'zeta' }, back] };
    expect(list('add_people', 'people')).toEqual([people]);
    expect(list('remove_people', 'personNames')).toEqual([people, { personNames: ['alpha', 'kappa'] }]);
    // Those with one end that is gone go with it.
    expect(list('add_ties', 'ties')).toEqual([people, ties, { personNames: ['alpha'] }]);
    expect(list('remove_ties', 'ties')).toEqual([people, ties, { ties: [tie, back] }]);
  });

  it('reads what another tool made, and shows both sides of what a file has, and sends a directory for a file', async () => {
    const lines = Array.from({ length: 12 }, (_, index) => `line ${index}`).join('\n');
    await using workspace = await createWorkspace({ 'notes.txt': lines, 'deep/word.txt': 'word\n' });
    const settings = { budget: 160, workspace: workspace.path, server: 'process' as const };
    const exploration = await exploreInTest(nameExploredServer('packs'), settings);
    const unpacked = exploration.sessions.find(answers('unpack_file'))?.steps.map(({ request }) => request) ?? [];
    expect(unpacked.slice(0, 2)).toMatchObject([
      { tool: 'pack_file', arguments: { path: 'notes.txt', target_pack_file: 'explored.txt' } },
      { tool: 'unpack_file', arguments: { pack_file: 'explored.txt' } },
    ]);
    const edges = exploration.sessions.filter(({ adds }) => pickFeatures(adds, 'edge').length > 0);
    expect(edges.map(({ steps }) => steps.map(({ request }) => readArguments(request)))).toEqual(
      expect.arrayContaining([
        [
          { path: 'notes.txt', lines: 12 },
          { path: 'notes.txt', lines: 11 },
        ],
        [
          { path: '.', min_bytes: lines.length },
          { path: '.', min_bytes: lines.length + 1 },
        ],
      ]),
    );
    const { cases } = draftCases(exploration, draftEverything);
    const titles = cases.map(({ content }) => content['title']);
    expect(titles).toEqual(
      expect.arrayContaining([
        'read_end answers with lines 12, and otherwise with 11',
        `find_texts answers with min_bytes ${lines.length}, and otherwise with ${lines.length + 1}`,
        'read_end refuses path "."',
      ]),
    );
  });

  it('asserts what comes in another order in each process, without its order', async () => {
    const exploration = await exploreInTest(nameExploredServer('unsorted'), { budget: 60 });
    const { cases } = draftCases(exploration, draftEverything);
    const colors = ['amber', 'blue', 'coral', 'denim', 'ebony', 'flax', 'green'];
    const value = colors.map((color) => `[FILE] ${color}`).join('\n');
    expect(cases.map(({ content }) => content['steps'])).toEqual(
      expect.arrayContaining([
        [{ toolCall: 'list_files' }, { assert: { toolResultEquals: value, unordered: true } }],
        [
          { toolCall: 'list_colors' },
          { assert: { toolResultEquals: { count: 7, colors }, unordered: true, partial: true } },
          { assert: { toolResultContent: { type: 'text' } } },
        ],
      ]),
    );
  });

  it('makes what several things belong to before them, and names it when they are removed', async () => {
    const { sessions } = await exploreInTest(nameExploredServer('boards'), { budget: 200 });
    const find = (tool: string) =>
      sessions.find(({ adds }) => pickFeatures(adds, 'several').some((each) => each.tool === tool));
    const found = find('remove_cards');
    const boardId = '{{result.0/structuredContent/boardId}}';
    const card = { cardName: 'alpha', text: 'delta epsilon' };
    const cards = [
      card,
      { ...card, cardName: 'omega' },
      { ...card, text: 'eta theta' },
      { ...card, cardName: 'kappa' },
    ];
    expect(found?.steps.map(({ request }) => request)).toMatchObject([
      { tool: 'create_board' },
      { tool: 'add_cards', arguments: { boardId, cards } },
      { tool: 'list_cards', arguments: { boardId } },
      { tool: 'remove_cards', arguments: { boardId, cardNames: ['alpha', 'kappa'] } },
      { tool: 'list_cards', arguments: { boardId } },
    ]);
    expect(found?.steps.at(-1)?.observation.outcome).toMatchObject({
      result: { structuredContent: { cards: [{ cardName: 'omega' }] } },
    });
    const linked = find('add_links')?.steps ?? [];
    expect(linked.map(({ request }) => nameRequest(request)).slice(0, 3)).toEqual([
      'create_board',
      'add_cards',
      'add_links',
    ]);
    expect(linked[2]?.request).toMatchObject({
      arguments: { boardId, links: expect.arrayContaining([{ from: 'alpha', to: 'omega' }]) },
    });
  });

  it('sends several things that name nothing, where the server refuses those that do', async () => {
    const { sessions } = await exploreInTest(nameExploredServer('mails'), { budget: 200 });
    const found = sessions.find(({ adds }) => pickFeatures(adds, 'several').some(({ tool }) => tool === 'add_mails'));
    const [first] = found?.steps ?? [];
    const mail = { to: 'ann@example.com', title: 'user@example.com' };
    expect(first && readArguments(first.request)).toEqual({
      mails: [
        mail,
        { ...mail, to: 'ann2@example.com' },
        { ...mail, title: 'user2@example.com' },
        { ...mail, title: 'user3@example.com' },
      ],
    });
  });

  it('makes the table that a database needs, and sees what statements and calls change in it', async () => {
    const exploration = await exploreInTest(nameExploredServer('records'));
    const { coverage, flaky, harmless } = exploration;
    expect(coverage.tools).toEqual({ reached: 4, of: 4 });
    // A parameter of a tool that works after others only counts, too.
    expect(coverage.parameters).toEqual({ reached: 5, of: 5 });
    // A statement that reads is no proof that all do.
    expect(flaky).toEqual([]);
    expect(harmless).toContain('read_rows');
    expect(listAdds(exploration)).toEqual(
      expect.arrayContaining([
        { kind: 'state', reader: 'list_tables', writer: 'run_query' },
        { kind: 'state', reader: 'read_rows', writer: 'insert_row' },
      ]),
    );
    const { cases } = draftCases(exploration, draftEverything);
    expect(cases.map(({ content }) => content['title'])).toEqual(
      expect.arrayContaining(['list_tables sees what run_query changed', 'read_rows finds what insert_row made']),
    );
    const titles = cases.map(({ content }) => content['title']);
    expect(titles).toEqual(
      expect.arrayContaining(['run_query sees UPDATE by run_query', 'run_query refuses sql "SELECT id FROM missing"']),
    );
    // Rows that a statement is not about stay, and it says how many it changed.
    const removing = cases.find(({ content }) => content['title'] === 'run_query sees DELETE by run_query');
    expect(removing?.content['steps']).toEqual(
      expect.arrayContaining([
        { assert: { toolResultEquals: '2 rows changed' } },
        { assert: { toolResultEquals: { rows: [{ id: 1, name: 'alpha' }] }, partial: true } },
      ]),
    );
  });

  it('marks what differs between replays', () => {
    const { sessions, flaky } = notes;
    const random = sessions.find(answers('at_random'));
    expect(random?.volatile).toEqual(
      expect.arrayContaining(['/0/structuredContent/id', '/0/structuredContent/number']),
    );
    expect(random?.volatile).not.toContain('/0/structuredContent/kind');
    // The time of day, the day and the year differ in worlds with another clock.
    const dated = sessions.find(answers('plan_parcel'));
    const parts = ['at', 'slot', 'year'];
    expect(dated?.volatile.toSorted()).toEqual(
      ['/0/content/0/text', '/0/structuredContent'].flatMap((place) => parts.map((part) => `${place}/${part}`)),
    );
    expect(flaky).toEqual([]);
  });

  it('sees a second call in what a server counts, and not in what it draws by chance', async () => {
    const exploration = await exploreInTest(nameExploredServer('chance'));
    const again = listAdds(exploration).flatMap((feature) => (feature.kind === 'again' ? [feature.tool] : []));
    expect(again).toEqual(['tally']);
    expect(listAnswered(exploration)).toEqual(['roll_dice', 'tally']);
    expect(exploration.harmless).toEqual(['roll_dice']);
  });

  it('takes an id for a drawn text where no tool takes one', async () => {
    const { harmless } = await exploreInTest(nameExploredServer('uuids', 'chance'));
    expect(harmless).toEqual(['generate_uuid', 'roll_dice']);
    const other = await exploreInTest(nameExploredServer('uuids', 'notes'));
    expect(other.harmless).not.toContain('generate_uuid');
  });

  it('lets Python write what it compiles, where the environment forbids that', async () => {
    const command = nameExploredServer('environment');
    const { sessions } = await exploreInTest(command, { env: { PYTHONDONTWRITEBYTECODE: '1' }, budget: 5 });
    expect(JSON.stringify(sessions)).toContain('PYTHONDONTWRITEBYTECODE');
  });

  it.runIf(isOnAnotherFileSystem())('asserts nothing that another file system changes, also in a sandbox', async () => {
    const exploration = await exploreInTest(nameExploredServer('sizes'), { budget: 10, sandbox: 'auto' });
    const [step] = exploration.sessions[0]?.steps ?? [];
    const lines = step === undefined ? [] : readOutcomeText(step.observation.outcome).split('\n');
    // The directory has another size and another position.
    expect(lines.filter((line) => line.startsWith('docs has'))).toEqual(['docs has {{any}} bytes{{any}}']);
    // Another line may follow one that stays where it is.
    expect(lines).toEqual(expect.arrayContaining(['In {{workspace}}:{{any}}', 'The end']));
    expect(exploration.flaky).toEqual([]);
  });

  it('changes nothing outside of its copies of the workspace', async () => {
    await using workspace = await createWorkspace({ 'kept/notes.txt': 'alpha\n', 'next.txt': 'unchanged' });
    const before = await readTree(workspace.path);
    const command = nameExploredServer('read-only-file', 'vanishing', 'destructive-hint-missing', 'flooding');
    await exploreInTest(command, { workspace: join(workspace.path, 'kept'), sandbox: 'auto', budget: 40 });
    expect(await readTree(workspace.path)).toEqual(before);
  });

  it('calls only tools that are declared read-only where others may have effects', async () => {
    const exploration = await exploreInTest(nameExploredServer('notes'), { call: 'read-only' });
    const called = exploration.sessions.flatMap(({ steps }) =>
      steps.flatMap(({ request }) => ('tool' in request ? [request.tool] : [])),
    );
    expect(new Set(called)).toEqual(new Set(['get_note', 'list_notes']));
    expect(exploration.unexplored).toContainEqual({
      subject: 'create_note',
      reason: 'it is not declared read-only, and the test says so',
    });
  });

  it('ends with a server whose every call fails, asks the client, floods it or removes its own directory', async () => {
    const explorations: Exploration[] = [];
    for (const set of ['failing', 'asking', 'flooding', 'vanishing']) {
      const exploration = await exploreInTest(nameExploredServer(set), { budget: 30 });
      expect([set, exploration.isCutByTime, exploration.requests.sent <= 30]).toEqual([set, false, true]);
      explorations.push(exploration);
    }
    const failing = explorations[0]!;
    expect(failing.coverage.tools).toEqual({ reached: 0, of: 2 });
    expect(failing.unexplored.map(({ reason }) => reason)).toEqual([
      'it refused every call, the last one with: not today',
      'it refused every call, the last one with: not today either',
    ]);
  });

  it.each([[[]], [['modern']]])(
    'answers a server that asks its client, and writes the answers into cases %s',
    async (era) => {
      const exploration = await exploreInTest(nameExploredServer('abilities', ...era));
      const { sessions, hidden, coverage, flaky } = exploration;
      expect([coverage.tools, hidden, flaky]).toEqual([{ reached: 4, of: 4 }, { use_model: ['sampling'] }, []]);
      const read = (tool: string) => {
        const step = sessions.find(answers(tool))?.steps[0];
        return [step?.observation.asked, step && readOutcomeText(step.observation.outcome)];
      };
      const filled = { name: expect.any(String), plan: 'free', seats: expect.any(Number) };
      const [asked, text] = read('book_seat');
      expect(asked).toEqual([
        { ability: 'elicitation', message: expect.stringMatching(/^Who asks about /), answer: { accept: filled } },
      ]);
      expect(text).toMatch(/^accept: \w+, free, [2-9]\d*$/);
      expect(read('summarize')).toEqual([
        [{ ability: 'sampling', message: 'What is tea?', answer: { text: 'alpha beta' } }],
        'the model says: alpha beta',
      ]);
      expect(read('count_roots')).toEqual([[{ ability: 'roots' }], '1 root, with notes']);
      expect(read('use_model')).toEqual([undefined, 'a model is offered']);
      const { cases } = draftCases(exploration, draftEverything);
      const client = (tool: string) =>
        cases.find(({ content }) => JSON.stringify(content).includes(tool))?.content['client'];
      expect(client('book_seat')).toEqual({ elicitation: [{ accept: filled }] });
      expect(client('summarize')).toEqual({ sampling: [{ text: 'alpha beta' }] });
      expect(client('count_roots')).toEqual({ roots: ['file://{{workspace}}'] });
      // An answer that the server never asks for would be a warning of each gate.
      expect(client('use_model')).toEqual({ sampling: [] });
    },
  );

  it.each([[[]], [['modern']]])('ends with a server that asks again after each answer %s', async (era) => {
    const exploration = await exploreInTest(nameExploredServer('insisting', ...era), { budget: 60, callMs: 2000 });
    const { requests, isCutByTime, unexplored, sessions } = exploration;
    expect([isCutByTime, requests.sent <= 60]).toEqual([false, true]);
    expect(unexplored.map(({ subject }) => subject)).toContain('never_content');
    // A question to cancel ends the first tool in one era, and is not answered in the other.
    const isEnded = sessions.some(answers('insist'));
    expect(isEnded).toBe(era.length === 0);
  });

  it('calls as a task what runs as one only, and waits for its end', async () => {
    const exploration = await exploreInTest(nameExploredServer('tasks', 'runs-tasks'));
    const { sessions, unexplored, findings, coverage } = exploration;
    const read = (tool: string) => {
      const step = sessions.find(answers(tool))?.steps[0];
      return [step?.observation.asked?.[0]?.ability, step && readOutcomeText(step.observation.outcome)];
    };
    expect(read('survey_topic')).toEqual([undefined, expect.stringMatching(/^found 1 of \w+$/)]);
    expect(read('survey_with_question')).toEqual(['elicitation', expect.stringMatching(/^accept \w+$/)]);
    const failed = sessions
      .flatMap(({ steps }) => steps)
      .filter(({ request }) => nameRequest(request) === 'survey_in_vain');
    expect(failed.map(({ observation: { outcome } }) => outcome)).toContainEqual(
      expect.objectContaining({ kind: 'result', isError: true }),
    );
    expect(unexplored).toEqual([
      { subject: 'survey_in_vain', reason: expect.stringContaining('nothing is known of') },
      { subject: 'survey_cancelled', reason: expect.stringContaining('The server cancelled the task') },
    ]);
    expect([findings, coverage.byTool.find(({ tool }) => tool === 'survey_topic')?.isAnswered]).toEqual([[], true]);
    const { cases } = draftCases(exploration, draftEverything);
    const answered = sessions.filter(answers('survey_topic'));
    expect(answered.map(({ steps }) => steps.map(({ request }) => readArguments(request)))).toEqual([
      [{ topic: 'alpha' }],
    ]);
    const [first] = cases;
    expect(first?.content['steps']).toContainEqual({
      toolCall: 'survey_topic',
      arguments: { topic: expect.any(String) },
    });
  });

  it('ends with a task that goes on for longer than a call may', async () => {
    const { unexplored, findings } = await exploreInTest(nameExploredServer('endless', 'runs-tasks'), { callMs: 200 });
    expect(unexplored).toEqual([{ subject: 'survey_without_end', reason: 'its calls were not answered in time' }]);
    expect(findings).toEqual([]);
  });

  it('says that a server runs no tasks, and does not call what runs as one only', async () => {
    const { unexplored, requests } = await exploreInTest(nameExploredServer('tasks'));
    const reason = 'it runs as a task only, and the server does not declare that it runs tasks';
    expect([requests.sent, unexplored.map((each) => each.reason)]).toEqual([
      0,
      Array.from({ length: 4 }, () => reason),
    ]);
  });

  it('ends soon after its time limit with a server whose calls take five seconds, and says what was left out', async () => {
    const exploration = await exploreInTest(nameExploredServer('slow'), { budget: 60, timeLimitMs: 1000 });
    // One call may have begun in time.
    expect([exploration.isCutByTime, exploration.requests.sent <= 1]).toEqual([true, true]);
    expect(exploration.sessions).toEqual([]);
    expect(exploration.unexplored).toEqual([
      {
        subject: expect.stringMatching(/^(?:wait_long|1 session)$/),
        reason: expect.stringMatching(/^the time was over/),
      },
    ]);
  });

  it('asks for some of three things by each parameter that selects', async () => {
    const { sessions } = await exploreInTest(nameExploredServer('shelf'));
    const found = sessions.filter(({ adds }) => pickFeatures(adds, 'selected').length > 0);
    const calls = found.flatMap(({ steps }) => steps.map(({ request }) => request));
    const list = (args: object) => ({ kind: 'tool', tool: 'list_books', arguments: args });
    expect(calls).toEqual([
      ...['Alpha', 'Omega', 'Kappa'].map((title) =>
        expect.objectContaining({ tool: 'add_book', arguments: expect.objectContaining({ title }) }),
      ),
      list({}),
      list({ shelf: expect.any(String) }),
      list({ limit: 2 }),
      list({ limit: 2, offset: 1 }),
      list({ search: 'Omega' }),
      list({ full: true }),
    ]);
    const answers = found[0]?.steps.map(({ observation: { outcome } }) =>
      outcome.kind === 'result' ? outcome.result['structuredContent'] : null,
    );
    expect(answers?.slice(4, 8)).toMatchObject([
      { total: 1, books: [{ title: 'Omega' }] },
      { total: 3, books: [{ title: 'Alpha' }, { title: 'Omega' }] },
      { total: 3, books: [{ title: 'Omega' }, { title: 'Kappa' }] },
      { total: 1, books: [{ title: 'Omega' }] },
    ]);
    // Its readers select nothing.
    expect(pickFeatures(listAdds(notes), 'selected')).toEqual([]);
  });

  it('searches for what was made in its letters and in capitals, and in small letters for what was made in capitals', async () => {
    const { sessions } = await exploreInTest(nameExploredServer('shelf'));
    const found = sessions.filter(({ adds }) => pickFeatures(adds, 'search').length > 0);
    const shown = found.map(({ steps }) =>
      steps.map(({ request, observation: { outcome } }) => {
        const args = request.kind === 'tool' ? request.arguments : {};
        const count = outcome.kind === 'result' ? Object(outcome.result['structuredContent'])['total'] : null;
        return args['title'] ?? `${String(args['search'])}: ${String(count)}`;
      }),
    );
    // The server looks for the same letters in titles alone.
    expect(shown).toContainEqual(['Alpha', 'Alpha: 1', 'delta epsilon: 0', 'ALPHA: 0', 'DELTA EPSILON: 0']);
    expect(shown).toContainEqual(['ALPHA', 'Alpha: 0', 'delta epsilon: 0']);
  });

  it('changes each part of what was made alone, and empties one', async () => {
    const { sessions } = await exploreInTest(nameExploredServer('cards'));
    const found = sessions.find(({ adds }) => pickFeatures(adds, 'part').length > 0);
    const update = (parts: object) => ({ kind: 'tool', tool: 'update_card', arguments: { card_id: 1, ...parts } });
    const list = { kind: 'tool', tool: 'list_cards', arguments: {} };
    expect(found?.steps.map(({ request }) => request)).toEqual([
      { kind: 'tool', tool: 'add_card', arguments: { title: 'Alpha', note: 'delta epsilon' } },
      list,
      update({ title: 'Omega' }),
      list,
      update({ note: 'eta theta' }),
      list,
      update({ note: '' }),
      list,
    ]);
    // A call of this set changes nothing that was made.
    expect(pickFeatures(listAdds(notes), 'part')).toEqual([]);
  });

  it('shows what an option and a unit do with texts that show it', async () => {
    const { sessions } = await exploreInTest(nameExploredServer('codes'));
    const adds = sessions.flatMap((session) => session.adds);
    expect(pickFeatures(adds, 'effect')).toEqual([{ kind: 'effect', tool: 'encode', name: 'url_safe', value: true }]);
    const units = pickFeatures(adds, 'value').filter(({ tool }) => tool === 'convert_units');
    expect(units.map(({ name, value }) => `${name} ${String(value)}`)).toEqual(
      expect.arrayContaining(['from_unit m', 'to_unit yd', 'from_unit kg', 'to_unit lb', 'from_unit oz', 'to_unit kg']),
    );
  });

  it('gives each of 60 tools its share of the requests', async () => {
    const { coverage } = await exploreInTest(nameExploredServer('many'), { budget: 250 });
    expect(coverage.tools).toEqual({ reached: 60, of: 60 });
  });

  it('has 25 requests for each tool of many, unless it is given a budget', async () => {
    const { requests } = await exploreInTest(nameExploredServer('many'), { budget: null, timeLimitMs: 1 });
    expect(requests.budget).toBe(60 * 25);
  });

  it('gives each phase, the replays and the confirming of findings their share of the time', async () => {
    // A second passes whenever the explorer reads the clock, which it does before each session.
    let seconds = 0;
    const clock = { ...systemClock, monotonicMs: () => 1000 * (seconds += 1) };
    const cut = { clock, budget: 2000, timeLimitMs: 534_000 };
    const exploration = await exploreInTest(nameExploredServer('error-flag', 'many', 'more'), cut);
    const { isCutByTime, coverage, sessions, unexplored, findings } = exploration;
    expect(isCutByTime).toBe(true);
    // 70 of the seconds are for the examples, and 73 for the errors.
    expect([coverage.tools.reached > 60, coverage.tools.reached < 75]).toEqual([true, true]);
    expect([coverage.errorPaths.reached > 55, coverage.errorPaths.reached < 75]).toEqual([true, true]);
    // 150 seconds are for four replays of each session. What is cut is a part of the last group only.
    expect([sessions.length > 25, sessions.length < 60]).toEqual([true, true]);
    expect(unexplored).toContainEqual({
      subject: expect.stringMatching(/^\d+ sessions$/),
      reason: 'the time was over before the replay',
    });
    expect(unexplored).toContainEqual({ subject: 'get_part_19', reason: 'the time was over' });
    expect(findings.map(({ kind, tool }) => `${kind} ${tool}`)).toEqual(['error-flag fetch_page']);
  });

  it('says of no tool that answered that the time was over before it was called', async () => {
    let seconds = 0;
    const clock = { ...systemClock, monotonicMs: () => 1000 * (seconds += 1) };
    const cut = { clock, budget: 400, timeLimitMs: 66_000 };
    const { unexplored, coverage } = await exploreInTest(nameExploredServer('chores', 'places', 'notes'), cut);
    const reasons = Object.fromEntries(unexplored.map(({ subject, reason }) => [subject, reason]));
    expect(coverage.byTool.filter(({ tool, isAnswered: answers }) => answers && tool in reasons)).toEqual([]);
    const left = 'it answered after other calls, and the time was over before it answered in a new world';
    expect([reasons['add_road'], reasons['create_note']]).toEqual([left, 'the time was over']);
  });

  it('says which findings the time was too short to confirm', async () => {
    let seconds = 0;
    const clock = { ...systemClock, monotonicMs: () => 1000 * (seconds += 1) };
    const { findings, unexplored, isCutByTime } = await exploreInTest(nameExploredServer('error-flag', 'crash'), {
      clock,
      budget: 20,
      timeLimitMs: 8800,
    });
    expect([findings, isCutByTime]).toEqual([[], true]);
    expect(unexplored).toContainEqual({
      subject: 'fetch_page',
      reason: 'the time was over before its finding error-flag was confirmed',
    });
  });

  it('refuses a workspace that is too large, or has a link out of it', async () => {
    await using workspace = await createWorkspace({ 'secret.txt': 'x' });
    const large = join(workspace.path, 'large');
    await mkdir(large);
    await writeFile(join(large, 'big.bin'), Buffer.alloc(65 * 1024 * 1024));
    const linked = join(workspace.path, 'linked');
    await mkdir(linked);
    await symlink('../secret.txt', join(linked, 'out'));
    const command = nameExploredServer('words');
    await expect(exploreInTest(command, { workspace: large })).rejects.toThrow(/at most 10,000 files and 64 MiB/);
    await expect(exploreInTest(command, { workspace: linked })).rejects.toThrow(
      /the link out leads out of the workspace/,
    );
  });

  it.each(Object.entries(knownServers))(
    'reaches most of server-%s, and finds nothing wrong',
    async (name, { command, env }) => {
      // Without a budget, the requests are 500, or 25 for each tool. A process of server-everything takes the most time.
      const budget = name === 'everything' ? 260 : null;
      const exploration = await exploreInTest(command, { env, budget, callMs: 8000 });
      const { tools, parameters, errorPaths } = exploration.coverage;
      expect(exploration.requests.budget).toBe(budget ?? 500);
      expect(listFindings(exploration)).toEqual([]);
      expect(tools.reached / tools.of).toBeGreaterThan(0.9);
      expect(parameters.reached / parameters.of).toBeGreaterThan(0.75);
      expect(errorPaths.reached / errorPaths.of).toBeGreaterThan(0.6);
      expect(listAnswered(exploration)).toEqual(listCovered(exploration));
      // A refusal that only a used world gave is none of the session.
      const refusing = exploration.sessions.filter(({ adds }) => pickFeatures(adds, 'refusal').length > 0);
      expect(refusing.every(({ steps }) => steps.some(({ observation }) => isRefused(observation)))).toBe(true);
      for (const [server, feature] of shownOfFiles) {
        if (server === name) expect(listAdds(exploration)).toContainEqual(feature);
      }
    },
  );
});

/** What a call shows only with a part that is missing, with another value than the default, or over a file that exists. */
const shownOfFiles: ReadonlyArray<readonly [string, object]> = [
  ['filesystem', { kind: 'trait', tool: 'read_multiple_files', name: 'paths', trait: 'partly missing' }],
  ['filesystem', { kind: 'trait', tool: 'create_directory', name: 'path', trait: 'below a missing directory' }],
  ['filesystem', { kind: 'value', tool: 'list_directory_with_sizes', name: 'sortBy', value: 'size' }],
  ['filesystem', { kind: 'replaced', reader: expect.any(String), writer: 'write_file' }],
  [
    'filesystem',
    { kind: 'refusal', subject: 'move_file', words: expect.stringMatching(/^Destination already exists/) },
  ],
  // A resource that only a template names.
  ['everything', { kind: 'resource', subject: expect.stringMatching(/^demo:\/\/resource\/dynamic\/text\/\d+$/) }],
];

/** Checks if this machine has a file system in memory, and its temporary directory is on another one. */
function isOnAnotherFileSystem(): boolean {
  const memory = statSync('/dev/shm', { throwIfNoEntry: false });
  return memory !== undefined && memory.dev !== statSync(tmpdir()).dev;
}

/** Reads all files below a directory. */
async function readTree(root: string): Promise<Record<string, string>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(files.toSorted().map(async (file) => [file, await readFile(file, 'utf8')])),
  );
}
