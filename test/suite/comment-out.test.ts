import { describe, expect, it } from 'vitest';
import { commentOutCases } from '../../src/suite/comment-out.ts';

const evals = `suite: Notes
cases:
  - id: one
    title: One
    steps:
      - toolCall: a
      - assert:
          toolResultEquals: |-
            first

            last

  # A remark about the second case.
  - id: two
    title: Two
    steps: [{ toolCall: b }]
# The end
`;

describe('commentOutCases', () => {
  it('comments a case out with its reason, and leaves all other lines as they are', () => {
    expect(commentOutCases(evals, new Map([['one', 'Not run: it failed.']]))).toBe(`suite: Notes
cases:
  # Not run: it failed.
  # - id: one
  #   title: One
  #   steps:
  #     - toolCall: a
  #     - assert:
  #         toolResultEquals: |-
  #           first
  #
  #           last

  # A remark about the second case.
  - id: two
    title: Two
    steps: [{ toolCall: b }]
# The end
`);
    expect(commentOutCases(evals, new Map([['two', 'Why']]))).toBe(
      evals.replace(
        '  - id: two\n    title: Two\n    steps: [',
        '  # Why\n  # - id: two\n  #   title: Two\n  #   steps: [',
      ),
    );
  });

  it('changes nothing where there is no such case, or the list is not in block style', () => {
    expect(commentOutCases(evals, new Map([['three', 'Why']]))).toBe(evals);
    const flow = 'cases: [{ id: one }]\n';
    expect(commentOutCases(flow, new Map([['one', 'Why']]))).toBe(flow);
    expect(commentOutCases('cases: [', new Map([['one', 'Why']]))).toBe('cases: [');
  });
});
