import { describe, expect, it } from 'vitest';
import { nameRequest } from '../../src/model/explored-request.ts';
import { exploreInTest, listFindings, nameExploredServer } from '../support/explore.ts';

/** Sets of tools that one server has, and the findings that they must give: one for each set. */
const mistakes: ReadonlyArray<ReadonlyArray<[set: string, finding: string]>> = [
  [['crash', 'crash explode']],
  [['noise', 'protocol chatter']],
  [
    ['protocol', 'protocol malformed'],
    ['output-schema', 'output-schema measure'],
    ['leak-variable', 'leak get_status'],
    ['leak-file', 'leak read_text'],
    ['leak-stack', 'leak get_report'],
    ['error-flag', 'error-flag fetch_page'],
    ['schema-too-strict', 'schema-too-strict set_level'],
    ['schema-too-loose', 'schema-too-loose repeat_word'],
  ],
  [
    ['read-only-file', 'read-only-lie count_lines'],
    ['destructive-hint-missing', 'destructive-hint-missing tidy_up'],
    ['schema-default', 'schema-default find_zone'],
  ],
  [
    ['read-only-state', 'read-only-lie peek_calls'],
    ['idempotent-lie', 'idempotent-lie put_entry'],
  ],
];

describe('findings', () => {
  it.each(mistakes.map((group) => [group.map(([set]) => set).join(', '), group] as const))(
    'finds each mistake of the tools %s, and no other one',
    async (_, group) => {
      const exploration = await exploreInTest(`${nameExploredServer(...group.map(([set]) => set))} {{workspace}}`);
      expect(listFindings(exploration).toSorted()).toEqual(group.map(([, finding]) => finding).toSorted());
      // The session of a finding is the shortest that shows it.
      const peek = exploration.findings.find(({ tool }) => tool === 'peek_calls');
      if (peek === undefined) return;
      expect(peek.session.map(nameRequest)).toEqual(['list_calls', 'peek_calls', 'list_calls']);
    },
  );

  it('finds a server that answers nothing any more', async () => {
    const exploration = await exploreInTest(nameExploredServer('hang'), { callMs: 250 });
    expect(listFindings(exploration)).toEqual(['hang spin']);
    expect(exploration.unexplored).toEqual([{ subject: 'spin', reason: 'its calls were not answered in time' }]);
  });

  it('names no path of a copy of the workspace where a server writes it as it starts', async () => {
    const command = `${nameExploredServer('words', 'start-noise')} {{workspace}}`;
    const exploration = await exploreInTest(command, { budget: 20 });
    expect(exploration.findings.map(({ message }) => message)).toEqual([
      'the server writes to stdout as it starts, where only messages belong: "Serving {{workspace}}"',
    ]);
  });

  it('finds nothing in sound tools, with random ids, notes and files among them', async () => {
    // Without a directory of its own, a tool that reads any file does what it is for.
    const sound = nameExploredServer(
      'notes',
      'words',
      'read-only-sound',
      'idempotent-sound',
      'leak-file',
      'document-text',
    );
    expect(listFindings(await exploreInTest(sound))).toEqual([]);
  });
});
