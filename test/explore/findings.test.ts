import { describe, expect, it } from 'vitest';
import { exploreInTest, listFindings, nameExploredServer } from '../support/explore.ts';

/** The set of tools that has each kind of mistake, and the finding that it must give. */
const mistakes: ReadonlyArray<[set: string, finding: string]> = [
  ['crash', 'crash explode'],
  ['protocol', 'protocol malformed'],
  ['noise', 'protocol chatter'],
  ['output-schema', 'output-schema measure'],
  ['error-flag', 'error-flag fetch_page'],
  ['schema-too-strict', 'schema-too-strict set_level'],
  ['schema-default', 'schema-default find_zone'],
  ['leak-variable', 'leak get_status'],
  ['leak-file', 'leak read_text'],
  ['leak-stack', 'leak get_report'],
  ['read-only-file', 'read-only-lie count_lines'],
  ['read-only-state', 'read-only-lie peek_calls'],
  ['idempotent-lie', 'idempotent-lie put_entry'],
  ['destructive-hint-missing', 'destructive-hint-missing tidy_up'],
  ['schema-too-loose', 'schema-too-loose repeat_word'],
];

describe('findings', () => {
  it.each(mistakes)('finds the mistake of the tools %s, and no other one', async (set, finding) => {
    const exploration = await exploreInTest(nameExploredServer(set));
    expect(listFindings(exploration)).toEqual([finding]);
  });

  it('finds a server that answers nothing any more', async () => {
    const exploration = await exploreInTest(nameExploredServer('hang'), { callMs: 1000 });
    expect(listFindings(exploration)).toEqual(['hang spin']);
    expect(exploration.unexplored).toEqual([{ subject: 'spin', reason: 'its calls were not answered in time' }]);
  });

  it('finds nothing in sound tools, with random ids, notes and files among them', async () => {
    const sound = nameExploredServer('notes', 'words', 'read-only-sound', 'idempotent-sound');
    expect(listFindings(await exploreInTest(sound))).toEqual([]);
  });

  it('gives a session that reproduces the finding', async () => {
    const { findings } = await exploreInTest(nameExploredServer('read-only-state'));
    expect(findings.map(({ session }) => session.map((request) => request.kind === 'tool' && request.tool))).toEqual([
      ['list_calls', 'peek_calls', 'list_calls'],
    ]);
  });
});
