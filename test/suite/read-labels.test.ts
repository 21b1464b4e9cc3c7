import { describe, expect, it } from 'vitest';
import { readLabels } from '../../src/suite/read-labels.ts';

const labels = `judge:
  rubric: The answer names the capital of France.
  model: openai/gpt-5-mini
  threshold: 0.7
examples:
  - { answer: Paris., passed: true }
  - { prompt: What is the capital of France?, answer: Lyon., passed: false }
  - passed: false
    conversation:
      - user: What is the capital of France?
      - { toolCall: lookup, arguments: { country: France } }
      - { toolResult: lookup, text: Lyon }
      - assistant: It is Lyon.
`;

function listFindings(text: string): string[] {
  return readLabels(text, { file: 'labels.yaml' }).findings.map(
    ({ line, code, message }) => `${line} ${code}: ${message}`,
  );
}

describe('readLabels', () => {
  it('reads answers, prompts and whole conversations, each with its location', () => {
    const { labels: read, findings } = readLabels(labels, { file: 'labels.yaml' });
    expect(findings).toEqual([]);
    expect(read?.judge).toMatchObject({ model: 'openai/gpt-5-mini', threshold: 0.7 });
    expect(read?.examples).toMatchObject([
      { isPassed: true, conversation: [{ assistant: 'Paris.' }], location: { file: 'labels.yaml', line: 6 } },
      { isPassed: false, conversation: [{ user: 'What is the capital of France?' }, { assistant: 'Lyon.' }] },
      {
        location: { line: 8 },
        conversation: [
          { user: 'What is the capital of France?' },
          { toolCall: 'lookup', arguments: { country: 'France' } },
          { toolResult: 'lookup', text: 'Lyon', isError: false },
          { assistant: 'It is Lyon.' },
        ],
      },
    ]);
  });

  it.each([
    [
      'examples of one label only',
      labels.replace('passed: true', 'passed: false'),
      '6 one-label: Examples of both labels are needed; add one that passes or one that fails',
    ],
    ['a label that is no boolean', labels.replace('passed: true', 'passed: yes'), /6 wrong-type: .*passed/],
    ['a model without a provider', labels.replace('openai/', ''), /3 bad-model: "gpt-5-mini" is not a model/],
    ['a threshold above 1', labels.replace('threshold: 0.7', 'threshold: 70'), /4 out-of-range: .*at most 1/],
    ['an unknown key', labels.replace('  rubric:', '  rubrik:'), /unknown-key: Unknown key `rubrik`/],
    ['an empty file', '', /1 empty-file/],
  ])('reports %s with its line', (_, text, finding) => {
    const findings = listFindings(text);
    expect(findings.join('\n')).toMatch(finding);
    expect(readLabels(text, { file: 'labels.yaml' }).labels).toBeNull();
  });
});
