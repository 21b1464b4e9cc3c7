import { describe, expect, it } from 'vitest';
import { compileSuite } from '../../src/suite/compile.ts';
import { contract, type Dialect } from '../../src/suite/dialect.ts';
import { readSuite } from '../../src/suite/read.ts';

function list(client: string, assertion = 'toolResultContains: x'): string[] {
  const text = `suite: a\nclient:\n  ${client}\ncases: [{ title: b, steps: [{ toolCall: c }, { assert: { ${assertion} } }] }]`;
  return readSuite(text, { file: 'a' }).findings.map(
    ({ line, column, message, code }) => `${line}:${column}: ${message} (${code})`,
  );
}

describe('the key `client`', () => {
  it.each([
    ['elicitation: [acept]', '3:17: Unknown answer `acept`; did you mean `accept`? (unknown-answer)'],
    ['elicitation: [{ accpt: true }]', '3:19: Unknown answer `accpt`; did you mean `accept`? (unknown-answer)'],
    [
      'elicitation: [{ decline: true, when: {} }]',
      '3:34: `when` is empty; write `message`, `pattern` or `schema` (empty-condition)',
    ],
    ['sampling: [{ text: a, when: {} }]', '3:25: `when` is empty; write `message` or `pattern` (empty-condition)'],
    ['sampling: modle', '3:13: `sampling` must be `model` or a list, not "modle" (wrong-type)'],
    ['sampling: [{ image: aGk= }]', '3:14: The key `mimeType` is missing (missing-key)'],
    ['roots: [/work]', '3:11: "/work" is not a root; write a URI such as file:///workspace (bad-root)'],
    ['tasks: {}', '3:3: Unknown key `tasks`; known here: `elicitation`, `sampling`, `roots` (unknown-key)'],
  ])('is refused with its line: %s', (client, finding) => {
    expect(list(client)).toEqual([finding]);
  });

  it('accepts every kind of answer', () => {
    const elicitation =
      'accept, decline, cancel, { accept: { a: [b], c: 1 } }, { cancel: true, when: { pattern: "^a" } }';
    const sampling = '{ text: a }, { image: aGk=, mimeType: image/png }, { toolUse: { name: a, input: { b: 1 } } }';
    expect(
      list(
        `elicitation: [${elicitation}]\n  sampling: [${sampling}]\n  roots: [file:///a, { uri: file:///b, name: b }]`,
      ),
    ).toEqual([]);
  });

  it('is needed by an assertion on requests', () => {
    expect(list('elicitation: []', 'not: { elicitationRequested: a }')).toEqual([]);
    expect(list('elicitation: []', 'samplingRequested: a')).toEqual([
      '4:46: No server asks this client for sampling, which the case does not offer; add `client: { sampling: [{ text: … }] }` (not-offered)',
    ]);
  });

  it.each([
    ['inside of `not`', 'not: { samplingRequested: a }'],
    ['inside of `anyOf`', 'anyOf: [{ samplingRequested: a }, { toolResultContains: b }]'],
    ['inside of `allOf` and `not`', 'allOf: [{ toolResultContains: b }, { not: { samplingRequested: a } }]'],
    ['inside of `not` and `anyOf`', 'not: { anyOf: [{ samplingRequested: a }, { elicitationRequested: b }] }'],
  ])('is needed by an assertion on requests %s', (_where, assertion) => {
    const finding = expect.stringMatching(/^4:46: No server asks this client for sampling, .* \(not-offered\)$/);
    expect(list('elicitation: []', assertion)).toEqual([finding]);
    expect(list('{ elicitation: [], sampling: [] }', assertion)).toEqual([]);
  });

  it.each([
    ['setup: [{ assert: { samplingRequested: a } }]', 2],
    ['cases: [{ title: b, steps: [{ repeat: [{ toolCall: c }], until: { samplingRequested: a } }] }]', 2],
    ['cases: [{ title: b, steps: [{ toolCall: c }], teardown: [{ assert: { samplingRequested: a } }] }]', 2],
    ['cases: [{ title: b, steps: [{ toolCall: c }], checks: [{ anyOf: [{ samplingRequested: a }] }] }]', 2],
  ])('is needed wherever an assertion stands: %s', (keys, line) => {
    const cases = keys.startsWith('cases') ? '' : '\ncases: [{ title: b, steps: [{ toolCall: c }] }]';
    const { findings } = readSuite(`suite: a\n${keys}${cases}`, { file: 'a' });
    expect(findings.map((finding) => [finding.line, finding.code])).toEqual([[line, 'not-offered']]);
    const offering = readSuite(`suite: a\n${keys}${cases}\nclient: { sampling: [] }`, { file: 'a' });
    expect(offering.findings).toEqual([]);
  });

  it.each([
    ['elicitation: [{ accept: { name: "{{who}}" } }]'],
    ['elicitation: [{ decline: true, when: { message: "for {{who}}" } }]'],
    ['sampling: [{ text: "Hello {{who}}" }]'],
    ['roots: ["file:///{{who}}"]'],
  ])('uses what a step of the case captures, and no other name: %s', (client) => {
    const read = (capture: string) =>
      readSuite(`suite: a\nclient:\n  ${client}\ncases: [{ title: b, steps: [{ toolCall: c${capture} }] }]`, {
        file: 'a',
      });
    const { suite, findings } = read(', capture: { who: /a }');
    expect(findings).toEqual([]);
    expect(suite?.cases[0]?.placeholders?.first).not.toBeNull();
    const [finding] = read(', capture: { whom: /a }').findings;
    expect(finding).toMatchObject({ line: 3, code: 'unknown-name' });
    expect(finding?.message).toBe('`{{who}}` has no value here; did you mean `whom`?');
  });

  it('is layered key by key, and reaches the service of this process alone', () => {
    const text = `suite: a
client: { elicitation: [accept], roots: [file:///a] }
cases:
  - title: b
    client: { elicitation: [decline] }
    steps: [{ toolCall: c }]
  - title: d
    steps: [{ toolCall: c }]`;
    const { suite } = readSuite(text, { file: 'a' });
    if (suite === null) throw new Error('The suite is valid.');
    const offers = (dialect: Dialect) =>
      compileSuite(suite, { dialect }).map(({ advancedConfig }) => advancedConfig?.client);
    expect(offers('embedded')).toEqual([
      { elicitation: ['decline'], roots: ['file:///a'] },
      { elicitation: ['accept'], roots: ['file:///a'] },
    ]);
    expect(offers(contract)).toEqual([undefined, undefined]);
    expect(suite.cases[0]?.client?.answers).toMatchObject([
      { ability: 'elicitation', isOwn: true, location: { line: 5 } },
      { ability: 'roots', isOwn: false, location: { line: 2 } },
    ]);
  });
});
