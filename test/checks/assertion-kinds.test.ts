import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createStepsSchema } from '../../src/service/bodies/case.ts';
import { contractLimits } from '../../src/service/limits.ts';
import { startSchemaTime } from '../../src/engine/schema-check.ts';
import { runAssertStep } from '../../src/engine/run-step.ts';
import { assertionNames, noBrowserReason, type Assertion } from '../../src/checks/assertion.ts';
import { readSuite } from '../../src/suite/read.ts';
import { createEvidence } from '../support/factories/evidence-factory.ts';

const target = { css: 'a' };

/** One assertion of every kind, in the API's shape. */
const samples: readonly Assertion[] = [
  { type: 'toolCalledWith', toolName: 'a', args: { args: { b: 1 } } },
  { type: 'toolCalledAtLeastOnce', toolName: 'a' },
  { type: 'toolNeverCalled', toolName: 'a' },
  { type: 'firstToolWas', toolName: 'a' },
  { type: 'responseContains', needle: 'a' },
  { type: 'responseMatches', pattern: 'a' },
  { type: 'noToolErrors' },
  { type: 'finalAssistantMessageNonEmpty' },
  { type: 'modelRefused' },
  { type: 'tokenBudgetUnder', tokens: 1 },
  { type: 'turnCountUnder', turns: 1 },
  { type: 'widgetRendered', toolName: 'a' },
  { type: 'widgetRenderLatencyUnder', ms: 1 },
  { type: 'widgetNoConsoleErrors' },
  { type: 'toolResultContains', needle: 'a' },
  { type: 'toolResultMatches', pattern: 'a' },
  { type: 'toolResultEquals', value: 1 },
  { type: 'toolResultMatchesSchema', schema: true },
  { type: 'toolResultIsError', isError: true },
  { type: 'toolResultContent', block: { type: 'image', mimeType: 'image/png' } },
  { type: 'toolError', error: { code: -32602 } },
  { type: 'toMatchFile', file: 'snapshots/a.json', path: '/a', ignore: ['/b/*', '[0-9]+'] },
  { type: 'toolLatencyUnder', ms: 1 },
  { type: 'toolNotFound', toolName: 'a' },
  { type: 'resourceContains', needle: 'a', uri: 'b' },
  { type: 'promptContains', needle: 'a', name: 'b' },
  { type: 'completionContains', needle: 'a', argument: 'b' },
  { type: 'resourceMatches', pattern: 'a' },
  { type: 'promptMatches', pattern: 'a' },
  { type: 'resourceEquals', value: 1, path: '/a' },
  { type: 'promptEquals', value: 1 },
  { type: 'completionEquals', value: ['a'], unordered: true },
  { type: 'resourceMatchesSchema', schema: true },
  { type: 'promptMatchesSchema', schema: true },
  { type: 'resourceMimeType', mimeType: 'a/b' },
  { type: 'requestError', error: { code: -32602 } },
  { type: 'toolCalledBefore', toolName: 'a', beforeToolName: 'b' },
  { type: 'toolCallCountUnder', count: 1 },
  { type: 'onlyToolsCalled', toolNames: ['a'] },
  { type: 'argumentsMatchToolSchema', toolName: 'a' },
  { type: 'noDestructiveToolCalled' },
  { type: 'toolResultSizeUnder', maxBytes: 1 },
  { type: 'responseCloseTo', reference: 'a', maxDistance: 0 },
  { type: 'noEndingQuestion', role: 'advisory' },
  { type: 'noRepeatedIdenticalCall', toolName: 'a', role: 'advisory' },
  { type: 'noDeprecatedToolCalled', role: 'advisory' },
  { type: 'toolErrorNamesInput', toolName: 'a', role: 'advisory' },
  { type: 'fullPageHasContinuation', toolName: 'a', role: 'advisory' },
  { type: 'progressReported', minCount: 2, message: 'a', toolName: 'b' },
  { type: 'logged', contains: 'a', level: 'info', logger: 'b' },
  { type: 'listChanged', of: 'tools' },
  { type: 'appResourceValid', toolName: 'a' },
  { type: 'elicitationRequested', message: 'a', schema: ['b'], mode: 'form', minCount: 2 },
  { type: 'samplingRequested', message: 'a', minCount: 2 },
  { type: 'judge', rubric: 'a', model: 'b/c', threshold: 0.7 },
  { type: 'not', assertion: { type: 'noToolErrors' } },
  { type: 'anyOf', assertions: [{ type: 'noToolErrors' }] },
  { type: 'allOf', assertions: [{ type: 'not', assertion: { type: 'noToolErrors' } }] },
  { kind: 'textVisible', toolName: 'a', text: 'b' },
  { kind: 'elementVisible', toolName: 'a', target },
  { kind: 'elementHidden', toolName: 'a', target },
  { kind: 'inputValue', toolName: 'a', target, equals: '' },
  { kind: 'widgetToolCalled', toolName: 'a', calledToolName: 'b' },
];

const docs = await readFile(new URL('../../docs/evals.md', import.meta.url), 'utf8');

/** What a kind of assertion lacks, of what every kind has. */
async function listMissing(sample: Assertion): Promise<string[]> {
  const name = readName(sample);
  const isAccepted = (text: string) => readSuite(text, { file: 'a' }).findings.length === 0;
  const suite = (assertion: unknown) =>
    JSON.stringify({
      suite: 'a',
      client: { elicitation: [], sampling: [] },
      cases: [{ title: 'b', steps: [{ assert: assertion }] }],
    });
  const wire = createStepsSchema(contractLimits).safeParse([{ id: 'a', kind: 'assert', assertion: sample }]);
  const judged = await runAssertStep(sample, createEvidence(), { time: startSchemaTime(), limit: null });
  const has = {
    schema: assertionNames.includes(name),
    file: isAccepted(suite(sample)),
    'short form': isAccepted(suite(shorten(sample))),
    wire: wire.success,
    judgement: !/unknown predicate type|malformed/.test(judged.reason ?? ''),
    docs: docs.includes(`\n| \`${name}\` `),
  };
  return Object.entries(has).flatMap(([part, isThere]) => (isThere ? [] : [part]));
}

function readName(assertion: Assertion): string {
  return 'type' in assertion ? assertion.type : assertion.kind;
}

/** The short form: the kind with its first field that does not name a tool, or else the first, or the name alone. */
function shorten(assertion: Assertion): unknown {
  const name = readName(assertion);
  if ('type' in assertion && assertion.type === 'toolCalledWith') {
    return { toolCalledWith: assertion.toolName, arguments: assertion.args.args };
  }
  const fields = Object.entries(assertion).filter(([key]) => key !== 'type' && key !== 'kind');
  const isMain = (key: string) => !['toolName', 'beforeToolName', 'role'].includes(key);
  const main = fields.find(([key]) => isMain(key)) ?? fields.find(([key]) => key !== 'role');
  // A kind without fields of its own says its role in the API's shape.
  if (main === undefined) return 'role' in assertion ? assertion : name;
  return { [name]: main[1], ...Object.fromEntries(fields.filter((field) => field !== main)) };
}

describe('every kind of assertion', () => {
  it('has a sample in this test', () => {
    expect(samples.map(readName).toSorted()).toEqual([...assertionNames].toSorted());
  });

  it.each(samples)(
    'has a form in the file, one on the wire, a judgement and a line in the docs: %j',
    async (sample) => {
      expect(await listMissing(sample)).toEqual([]);
    },
  );

  it('lacks all of them when its schema has no entry', async () => {
    const unknown: unknown = JSON.parse('{ "type": "toolCalledAfter", "toolName": "a", "afterToolName": "b" }');
    const accepts = (value: unknown): value is Assertion => typeof value === 'object';
    expect(accepts(unknown) && (await listMissing(unknown))).toEqual([
      'schema',
      'file',
      'short form',
      // The wire takes a check of any type, as the API does; the engine fails what it does not know.
      'judgement',
      'docs',
    ]);
  });

  it('lacks all of them when its schema has no entry for a widget', async () => {
    const unknown: unknown = JSON.parse('{ "kind": "elementFocused", "toolName": "a", "target": { "css": "b" } }');
    const accepts = (value: unknown): value is Assertion => typeof value === 'object';
    expect(accepts(unknown) && (await listMissing(unknown))).toEqual(['schema', 'file', 'short form', 'wire', 'docs']);
  });

  it('is not measured for a widget because nothing renders one', async () => {
    const judged = await runAssertStep({ kind: 'textVisible', toolName: 'a', text: 'b' }, createEvidence(), {
      time: startSchemaTime(),
      limit: null,
    });
    expect(judged.reason).toBe(`textVisible: ${noBrowserReason}`);
  });
});
