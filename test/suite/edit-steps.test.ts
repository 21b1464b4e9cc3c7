import { describe, expect, it } from 'vitest';
import { editSteps } from '../../src/suite/edit-steps.ts';

const text = `# What the notes do.
suite: notes
cases:
  - title: Reads # one
    steps:
      - toolCall: read
        arguments: { id: 7 }

      # as a whole
      - assert: { toolResultEquals: milk } # for now
      - assert:
          toolResultContains: |
            milk
            bread
  - { title: Other, steps: [{ toolCall: read }] }
`;

describe('editSteps', () => {
  it('adds assertions after a step, removes steps, and leaves the rest of the text unchanged', () => {
    const { text: edited, unplaced } = editSteps(text, [
      { kind: 'add-after', line: 6, column: 9, checks: [{ toolResultEquals: 'milk', path: '/name' }] },
      { kind: 'remove', line: 11, column: 9 },
    ]);
    expect(unplaced).toEqual([]);
    expect(edited).toBe(`# What the notes do.
suite: notes
cases:
  - title: Reads # one
    steps:
      - toolCall: read
        arguments: { id: 7 }
      - assert:
          toolResultEquals: milk
          path: /name

      # as a whole
      - assert: { toolResultEquals: milk } # for now
  - { title: Other, steps: [{ toolCall: read }] }
`);
  });

  it('leaves steps alone that are no items of a list in block style', () => {
    const edit = { kind: 'remove' as const, line: 15, column: 29 };
    expect(editSteps(text, [edit])).toEqual({ text, unplaced: [edit] });
    expect(editSteps('a: [', [edit])).toEqual({ text: 'a: [', unplaced: [edit] });
  });
});
