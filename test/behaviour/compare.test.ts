import { beforeAll, describe, expect, it } from 'vitest';
import { writeKey } from '../../src/behaviour/candidates.ts';
import { mergeDifferences } from '../../src/behaviour/compare.ts';
import type { FoundDifference } from '../../src/behaviour/compare-runs.ts';
import type { ComparedBehaviour } from '../../src/behaviour/comparison.ts';
import type { Confirmed } from '../../src/behaviour/confirm.ts';
import { comparePatched, noteServer, type Patch } from '../support/behaviour.ts';

const listFound = ({ measured }: ComparedBehaviour) =>
  measured.differences.map(({ kind, tool, pointer }) => `${kind} ${tool} ${pointer}`.trim());

describe('mergeDifferences', () => {
  /** A difference that a session with this reader as its last request has shown. */
  const confirm = (kind: FoundDifference['kind'], reader: string, pointer: string): Confirmed => {
    const request = { kind: 'tool', tool: reader, arguments: {} } as const;
    const difference = { step: 0, kind, pointer, exact: null, what: '', before: '', after: '', value: null };
    const key = writeKey(request, pointer, kind);
    const requests = [{ request, isWrong: false, mayMake: false }];
    const candidate = { key, requests, difference, shown: 3, of: 3, varies: false };
    return { candidate, runs: { base: [], head: [] }, chance: null };
  };

  it('says a lost effect once, and what changed elsewhere, too', () => {
    const changed = confirm('changed', 'list_notes', '/notes');
    const lost = confirm('lost', 'list_notes', '/notes');
    const others = [confirm('changed', 'list_notes', '/count'), confirm('changed', 'search_notes', '/notes')];
    expect(mergeDifferences([changed, ...others, lost, lost])).toEqual([...others, lost]);
    expect(mergeDifferences([changed, ...others])).toEqual([changed, ...others]);
  });
});

describe('compareBehaviour', () => {
  const sums: Patch[] = [['sum: a + b', 'sum: a - b']];
  // Its corpus is that of the same base for each other change.
  let first: ComparedBehaviour;
  beforeAll(async () => {
    first = await comparePatched(noteServer, sums);
  });
  const compareWithCorpus = (patches: readonly Patch[]) =>
    comparePatched(noteServer, patches, { cached: first.corpus });

  it('reports nothing for the same server', async () => {
    expect(listFound(await compareWithCorpus([]))).toEqual([]);
  });

  it('finds an argument that is completed otherwise, and a prompt that needs what was optional', async () => {
    const tours = { ...noteServer, file: 'explored-server.mjs', args: 'tours' };
    const patches: Patch[] = [
      ['.filter((each) => each.startsWith(value))', ''],
      ["street = 'any street'", 'street'],
    ];
    const compared = await comparePatched(tours, patches);
    expect(listFound(compared)).toEqual([
      'changed plan_tour /messages/*/content/text',
      'changed plan_tour /completion/values',
    ]);
    expect(listFound(await comparePatched(tours, [], { cached: compared.corpus }))).toEqual([]);
  });

  // Each tool has a change of its own, so that one comparison proves them all.
  it.each<[string, Patch[], string[]]>([
    [
      'a log on stderr, a description and a tool that is new',
      [
        ["if (method === 'tools/call') {", "if (method === 'tools/call') { console.error(Date.now());"],
        ['Does what ${name} says.', 'Does exactly what ${name} says.'],
        ['  where: {', "  extra: { hints: reads, call: () => text('x') },\n  where: {"],
      ],
      [],
    ],
    [
      'another value, a crash, another order, a search that finds nothing and a removal that removes nothing',
      [
        ...sums,
        ["style === 'loud' ? word.toUpperCase()", "style === 'loud' ? process.exit(3)"],
        ["'red', 'green', 'blue'", "'blue', 'red', 'green'"],
        ['title.includes(query)', 'title.includes(`${query}!`)'],
        ['notes.delete(title)', 'notes.has(title)'],
      ],
      [
        'broken describe_word',
        'changed list_colours /structuredContent/colours',
        'changed sum /structuredContent/sum',
        'lost get_note',
        'lost list_notes /structuredContent/notes',
        'lost search_notes /structuredContent/found',
      ],
    ],
    [
      'a list without the last note and a search in words',
      [
        ['notes: [...notes.values()]', 'notes: [...notes.values()].slice(0, -1)'],
        ['call: ({ query }) =>\n      structured({', 'call: ({ query }) =>\n      describeFound({'],
        [
          'const notes = new Map();',
          'const notes = new Map();\nconst describeFound = ({ query, found }) => text(found.map(({ title }) => `${title} has ${query}`).join());',
        ],
      ],
      ['changed search_notes /structuredContent', 'lost list_notes /structuredContent/notes'],
    ],
    [
      'an option without an effect',
      [["style === 'loud' ? word.toUpperCase()", "style === 'loud' ? word"]],
      ['lost describe_word /content/*/text'],
    ],
    [
      'another default than the declared one',
      [["style = 'plain'", "style = 'loud'"]],
      ['lost describe_word /content/*/text'],
    ],
    [
      'a default that is declared, too',
      [
        ["style = 'plain'", "style = 'loud'"],
        ["default: 'plain'", "default: 'loud'"],
      ],
      ['changed describe_word /content/*/text'],
    ],
    [
      'an answer of each third call',
      [['sum: a + b', 'sum: (globalThis.sums = (globalThis.sums ?? 0) + 1) % 3 === 0 ? a - b : a + b']],
      ['broken sum /structuredContent/sum'],
    ],
    [
      'answers that the base never gives, and an order that varies',
      [
        ['sum: a + b', 'sum: a + b + (globalThis.terms = (globalThis.terms ?? 0) + 1) % 3 + 1'],
        [
          "['red', 'green', 'blue']",
          "(globalThis.turns = !globalThis.turns) ? ['blue', 'red', 'green'] : ['green', 'blue', 'red']",
        ],
      ],
      ['broken list_colours /structuredContent/colours', 'changed sum /structuredContent/sum'],
    ],
  ])('reports for %s what it is', async (_, patches, expected) => {
    expect(listFound(await compareWithCorpus(patches)).toSorted()).toEqual(expected);
  });

  it('gives a case that fails for the words of a refusal, although both name the same value', async () => {
    const { measured } = await compareWithCorpus([['There is no note ${title}.`)),', 'No such note as ${title}.`)),']]);
    expect(measured.differences).toMatchObject([
      { tool: 'get_note', case: expect.stringContaining('contains: There is no note Alpha') },
    ]);
  });

  it('gives the same bytes for the same seed, and for cached requests the same differences', async () => {
    expect(listFound(first)).toEqual(['changed sum /structuredContent/sum']);
    // Whether the servers are processes or not.
    const second = await comparePatched(noteServer, sums, { budget: 60, server: 'process' });
    expect(listFound(second)).toEqual(listFound(first));
    expect(JSON.stringify(second)).toBe(JSON.stringify(await comparePatched(noteServer, sums, { budget: 60 })));
    const third = await compareWithCorpus(sums);
    expect(third.measured).toEqual({ ...first.measured, corpus: 'cached' });
  });
});
