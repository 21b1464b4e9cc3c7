import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createStepsSchema } from '../../src/service/bodies/case-body.ts';
import { contractLimits } from '../../src/service/api-limits.ts';
import { startSchemaTime } from '../../src/engine/schema-check.ts';
import { runAssertStep } from '../../src/engine/run-step.ts';
import { type Assertion, listNames } from '../../src/checks/assertion.ts';
import { checkRegistry } from '../../src/checks/registry.ts';
import { wrapperDocs } from '../../src/checks/wrappers.ts';
import { noBrowserReason } from '../../src/checks/widgets.ts';
import { readSuite } from '../../src/suite/read.ts';
import { createEvidence } from '../support/factories/evidence-factory.ts';

const wrapped: readonly Assertion[] = [
  { type: 'not', assertion: { type: 'noToolErrors' } },
  { type: 'anyOf', assertions: [{ type: 'noToolErrors' }] },
  { type: 'allOf', assertions: [{ type: 'not', assertion: { type: 'noToolErrors' } }] },
];

const isAssertion = (value: unknown): value is Assertion => typeof value === 'object';

/** One assertion of every kind, in the API's shape. */
const samples: readonly Assertion[] = [
  ...[...checkRegistry.checks, ...checkRegistry.elements].map(({ sample }): unknown => sample).filter(isAssertion),
  ...wrapped,
];

const docsOf = new Map<string, string>([
  ...checkRegistry.checks.map(({ type, docs }) => [type, docs] as const),
  ...checkRegistry.elements.map(({ kind, docs }) => [kind, docs] as const),
  ...Object.entries(wrapperDocs),
]);

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
    schema: listNames().includes(name),
    file: isAccepted(suite(sample)),
    'short form': isAccepted(suite(shorten(sample))),
    wire: wire.success,
    judgement: !/unknown predicate type|malformed/.test(judged.reason ?? ''),
    docs: hasRow(name),
  };
  return Object.entries(has).flatMap(([part, isThere]) => (isThere ? [] : [part]));
}

/** Whether a table of the docs has the kind, and says of it what its definition says. */
function hasRow(name: string): boolean {
  return docs.split('\n').some((line) => {
    const [, first = '', cell = ''] = line.split(/(?<!\\)\|/);
    return first.trim() === `\`${name}\`` && cell.trim() === docsOf.get(name);
  });
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
  it('has one name, and a sample of its own', () => {
    expect(samples.map(readName).toSorted()).toEqual(listNames().toSorted());
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
