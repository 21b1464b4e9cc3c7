import { beforeAll, describe, expect, it } from 'vitest';
import type { ComparedBehaviour } from '../../src/behaviour/comparison.ts';
import { comparePatched, noteServer, type Patch } from '../support/behaviour.ts';

const listFound = ({ measured }: ComparedBehaviour) =>
  measured.differences.map(({ kind, tool, pointer }) => `${kind} ${tool} ${pointer}`.trim());

describe('compareBehaviour', () => {
  // Its corpus is that of the same base for each other change.
  let unchanged: ComparedBehaviour;
  beforeAll(async () => {
    unchanged = await comparePatched(noteServer, []);
  });

  it('reports nothing for the same server', () => {
    expect(listFound(unchanged)).toEqual([]);
  });

  it.each<[string, Patch[], string[]]>([
    [
      'a log on stderr',
      [["if (method === 'tools/call') {", "if (method === 'tools/call') { console.error(Date.now());"]],
      [],
    ],
    ['a description', [['Does what ${name} says.', 'Does exactly what ${name} says.']], []],
    ['a tool that is new', [['  where: {', "  extra: { hints: reads, call: () => text('x') },\n  where: {"]], []],
    ['another value', [['sum: a + b', 'sum: a - b']], ['changed sum /structuredContent/sum']],
    [
      'a crash',
      [["style === 'loud' ? word.toUpperCase()", "style === 'loud' ? process.exit(3)"]],
      ['broken describe_word'],
    ],
    [
      'another order',
      [["'red', 'green', 'blue'", "'blue', 'red', 'green'"]],
      ['changed list_colours /structuredContent/colours'],
    ],
    [
      'a search that finds nothing',
      [['title.includes(query)', 'title.includes(`${query}!`)']],
      ['lost search_notes /structuredContent/found'],
    ],
    [
      'a list without the last note',
      [['notes: [...notes.values()]', 'notes: [...notes.values()].slice(0, -1)']],
      ['lost list_notes /structuredContent/notes'],
    ],
    [
      'a search in words',
      [
        ['call: ({ query }) =>\n      structured({', 'call: ({ query }) =>\n      describeFound({'],
        [
          'const notes = new Map();',
          'const notes = new Map();\nconst describeFound = ({ query, found }) => text(found.map(({ title }) => `${title} has ${query}`).join());',
        ],
      ],
      ['changed search_notes /structuredContent'],
    ],
    [
      'a removal that removes nothing',
      [['notes.delete(title)', 'notes.has(title)']],
      ['lost list_notes /structuredContent/notes'],
    ],
  ])('reports for %s what it is', async (_, patches, expected) => {
    expect(listFound(await comparePatched(noteServer, patches, { cached: unchanged.corpus }))).toEqual(expected);
  });

  it('gives the same bytes for the same seed, and for cached requests the same differences', async () => {
    const patches: Patch[] = [['sum: a + b', 'sum: a - b']];
    const first = await comparePatched(noteServer, patches, { seed: 3, budget: 60 });
    const second = await comparePatched(noteServer, patches, { seed: 3, budget: 60 });
    expect(JSON.stringify(second)).toBe(JSON.stringify(first));
    const third = await comparePatched(noteServer, patches, { seed: 3, budget: 60, cached: first.corpus });
    expect(third.measured).toEqual({ ...first.measured, corpus: 'cached' });
  });
});
