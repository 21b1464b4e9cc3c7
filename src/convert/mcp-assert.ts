import { z } from 'zod';
import { isRecord, listTexts } from '../base/json.ts';
import { explainIssues } from '../suite/explain-issues.ts';
import type { Finding } from '../suite/findings.ts';
import type { SourceDocument } from '../suite/source-document.ts';
import { type Converted, findOtherKeys } from './converted.ts';

const texts = z.array(z.string());

/** What of a file has a counterpart. The names are those of mcp-assert's documentation. */
const fileSchema = z.looseObject({
  name: z.string().optional(),
  timeout: z.string().optional(),
  setup: z
    .array(z.looseObject({ tool: z.string().min(1), args: z.record(z.string(), z.unknown()).nullish() }))
    .nullish(),
  assert: z.looseObject({
    tool: z.string().min(1),
    args: z.record(z.string(), z.unknown()).nullish(),
    expect: z
      .looseObject({
        not_error: z.boolean().nullish(),
        is_error: z.boolean().nullish(),
        not_empty: z.boolean().nullish(),
        equals: z.string().nullish(),
        contains: texts.nullish(),
        contains_any: texts.nullish(),
        not_contains: texts.nullish(),
        matches_regex: texts.nullish(),
        in_order: texts.nullish(),
      })
      .nullish(),
  }),
});

const known = {
  file: ['name', 'server', 'timeout', 'setup', 'assert'],
  server: ['command', 'args', 'env', 'transport', 'url', 'headers', 'docker'],
  call: ['tool', 'args'],
  assert: ['tool', 'args', 'expect'],
  expect: [
    'not_error',
    'is_error',
    'not_empty',
    'equals',
    'contains',
    'contains_any',
    'not_contains',
    'matches_regex',
    'in_order',
  ],
};

/** White space as Go trims it, in RE2. */
const space = String.raw`[\s\v\x{85}\p{Z}]*`;

/** Converts one file of mcp-assert, which is one case. `fallback` is its title where it has no name. */
export function convertAssertion(document: SourceDocument, fallback: string): Converted {
  const parsed = fileSchema.safeParse(document.value);
  const refused = [...findOthers(document), ...findFixtures(document)];
  // A file of another kind of assertion has no `assert`, which its own key says better.
  if (!parsed.success) {
    const findings = refused.length > 0 ? refused : explainIssues(fileSchema, document, parsed.error.issues);
    return { written: null, findings, notes: [] };
  }
  const { name, timeout, setup, assert } = parsed.data;
  const expect = assert.expect ?? {};
  const seconds = timeout === undefined ? null : /^(\d+)(ms|s|m)$/.exec(timeout);
  if (timeout !== undefined && seconds === null) {
    const message = `The timeout ${JSON.stringify(timeout)} has several units; write one, such as 90s`;
    refused.push({ ...document.locateValue(['timeout']), code: 'cannot-convert', message });
  }
  const assertions = writeExpectations(expect);
  return {
    written: {
      title: name === undefined || name === '' ? fallback : name,
      ...(timeout !== undefined && { timeout }),
      // An error of a tool fails a file only where it says so.
      ...(expect.not_error === true ? {} : { failOnToolError: false }),
      steps: [
        ...[...(setup ?? []), assert].map(({ tool, args }) => ({
          toolCall: tool,
          ...(args != null && Object.keys(args).length > 0 && { arguments: args }),
        })),
        ...assertions.map((assertion) => ({ assert: assertion })),
      ],
    },
    findings: refused,
    notes: [
      'The server is not part of an evals file; give it to the gate.',
      ...(assertions.length > 0
        ? [
            'Texts are also searched for in the structured content of a result, as JSON.',
            'A JSON-RPC error is an error of the tool.',
          ]
        : []),
    ],
  };
}

type Expectations = NonNullable<z.output<typeof fileSchema>['assert']['expect']>;

function writeExpectations(expect: Expectations): unknown[] {
  const matches = (pattern: string) => ({ toolResultMatches: pattern, latest: true });
  const contains = (needle: string) =>
    /\S/.test(needle)
      ? { toolResultContains: needle, caseSensitive: true, latest: true }
      : // A file does not search for white space alone.
        matches(`(?:${quote(needle)})`);
  const { contains_any: any = null, in_order: order = null, equals = null } = expect;
  return [
    ...(expect.not_error === true ? [{ toolResultIsError: false }] : []),
    ...(expect.is_error === true ? [{ toolResultIsError: true }] : []),
    ...(expect.not_empty === true ? [{ not: matches(`^${space}(?:null|\\[\\]|\\{\\})?${space}$`) }] : []),
    ...(equals === null ? [] : [matches(`^${space}${quote(trim(equals))}${space}$`)]),
    ...(expect.contains ?? []).map(contains),
    ...(any === null || any.length === 0 ? [] : [{ anyOf: any.map(contains) }]),
    ...(expect.not_contains ?? []).map((needle) => ({ not: contains(needle) })),
    ...(expect.matches_regex ?? []).map(matches),
    ...(order === null || order.length === 0 ? [] : [matches(`(?s)${order.map(quote).join('.*')}`)]),
  ];
}

function trim(text: string): string {
  return text.replaceAll(/^[\t-\r\u0085\p{Z}]+|[\t-\r\u0085\p{Z}]+$/gu, '');
}

function quote(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** Finds every key without a counterpart. */
function findOthers(document: SourceDocument): Finding[] {
  const { value } = document;
  const setup: readonly unknown[] = isRecord(value) && Array.isArray(value['setup']) ? value['setup'] : [];
  return [
    ...findOtherKeys(document, [], known.file),
    ...findOtherKeys(document, ['server'], known.server),
    ...[...setup.keys()].flatMap((index) => findOtherKeys(document, ['setup', index], known.call)),
    ...findOtherKeys(document, ['assert'], known.assert),
    ...findOtherKeys(document, ['assert', 'expect'], known.expect),
  ];
}

/** Finds names that mcp-assert fills in, such as that of the folder of a fixture. */
function findFixtures(document: SourceDocument): Finding[] {
  const file = isRecord(document.value) ? document.value : {};
  const { setup, assert } = file;
  return [...listTexts({ setup, assert })]
    .filter(({ text }) => text.includes('{{'))
    .map(({ text, path }) => ({
      ...document.locateValue(path),
      code: 'cannot-convert',
      message: `${JSON.stringify(text)} has a name that mcp-assert fills in; write the value`,
    }));
}
