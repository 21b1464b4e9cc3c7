import { z } from 'zod';
import { isRecord } from '../base/json.ts';
import { formatMinimumPassRate } from '../model/rate.ts';
import { explainIssues } from '../suite/explain-issues.ts';
import type { Finding } from '../suite/findings.ts';
import type { DocumentPath, SourceDocument } from '../suite/source-document.ts';
import { type Converted, findOtherKeys } from './converted.ts';
import { translatePattern } from './javascript-pattern.ts';

const oneOrMore = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (typeof value === 'string' ? [value] : value));

/** What of a dataset of @gleanwork/mcp-server-tester has a counterpart. The names are those of its schema. */
const datasetSchema = z.looseObject({
  name: z.string().min(1),
  cases: z
    .array(
      z.looseObject({
        id: z.string().min(1),
        description: z.string().optional(),
        toolName: z.string().min(1),
        args: z.record(z.string(), z.unknown()),
        iterations: z.int().min(1).optional(),
        accuracyThreshold: z.number().min(0).max(1).optional(),
        tags: z.array(z.string()).optional(),
        expect: z
          .looseObject({
            containsText: oneOrMore.optional(),
            matchesPattern: oneOrMore.optional(),
            isError: z.union([z.boolean(), oneOrMore]).optional(),
          })
          .optional(),
      }),
    )
    .min(1),
});

type Case = z.output<typeof datasetSchema>['cases'][number];

const known = {
  dataset: ['$schema', 'name', 'description', 'cases', 'metadata'],
  // `judgeReps` and `canonicalAnswer` are read for judges alone, whose assertions are refused by their own keys.
  case: 'id description mode toolName args metadata iterations accuracyThreshold tags expect judgeReps canonicalAnswer'.split(
    ' ',
  ),
  expect: ['containsText', 'matchesPattern', 'isError'],
};

/** Converts a dataset of @gleanwork/mcp-server-tester in which every case calls one tool. */
export function convertDataset(document: SourceDocument): Converted {
  const parsed = datasetSchema.safeParse(document.value);
  const refused = [...findOthers(document)];
  if (!parsed.success) {
    const findings = refused.length > 0 ? refused : explainIssues(datasetSchema, document, parsed.error.issues);
    return { written: null, findings, notes: [] };
  }
  const { name, cases } = parsed.data;
  const written = cases.map((testCase, index) => writeCase(testCase, { document, path: ['cases', index], refused }));
  const rates = cases.filter(({ accuracyThreshold = 1 }) => accuracyThreshold < 1);
  const strict = cases.filter((testCase) => !rates.includes(testCase));
  const policy = {
    minimumPassRate: '0%',
    cases: Object.fromEntries(
      rates.map(({ id, accuracyThreshold = 1 }) => [id, formatMinimumPassRate(accuracyThreshold)]),
    ),
    ...(strict.length > 0 && { required: strict.map(({ id }) => id) }),
  };
  const hasPatterns = cases.some(({ expect }) => expect?.matchesPattern !== undefined);
  return {
    written: { suite: name, ...(rates.length > 0 && { policy }), cases: written },
    findings: refused,
    notes: [
      'The server is not part of an evals file; give it to the gate.',
      'Texts are also searched for in the structured content of a result, as JSON.',
      'A JSON-RPC error is an error of the tool.',
      ...(hasPatterns ? ['In a pattern, a character beyond U+FFFF counts as one.'] : []),
    ],
  };
}

function writeCase(
  { id, description, toolName, args, iterations, tags, expect = {} }: Case,
  { document, path, refused }: { document: SourceDocument; path: DocumentPath; refused: Finding[] },
): Readonly<Record<string, unknown>> {
  const { containsText = [], matchesPattern = [], isError } = expect;
  const refuse = (key: string, message: string) =>
    refused.push({ ...document.locateKey([...path, 'expect', key]), code: 'cannot-convert', message });
  const patterns = matchesPattern.flatMap((source) => {
    const pattern = translatePattern(source);
    if (pattern === null) {
      refuse('matchesPattern', `The pattern ${JSON.stringify(source)} has no counterpart in RE2; write it anew`);
    }
    return pattern ?? [];
  });
  const messages = Array.isArray(isError) ? isError : null;
  if (messages?.length === 0) refuse('isError', 'An empty list is never met; write `true`, or a text of the message');
  const asserts = [
    ...(isError === undefined ? [] : [{ toolResultIsError: isError !== false }]),
    ...(messages === null || messages.includes('')
      ? []
      : [{ anyOf: messages.map((text) => contain(text, { caseSensitive: false })) }]),
    ...containsText.filter((text) => text !== '').map((text) => contain(text, { caseSensitive: true })),
    ...patterns.map((pattern) => ({ toolResultMatches: pattern, latest: true })),
  ];
  return {
    id,
    title: description ?? id,
    ...(tags !== undefined && tags.length > 0 && { tags }),
    ...(iterations !== undefined && iterations > 1 && { runs: iterations }),
    // An error of a tool fails a case only where it says so.
    ...(isError === false ? {} : { failOnToolError: false }),
    steps: [
      { toolCall: toolName, ...(Object.keys(args).length > 0 && { arguments: args }) },
      ...asserts.map((assertion) => ({ assert: assertion })),
    ],
  };
}

/** An evals file does not search for white space alone. */
function contain(text: string, { caseSensitive }: { caseSensitive: boolean }): Readonly<Record<string, unknown>> {
  return /\S/.test(text)
    ? { toolResultContains: text, caseSensitive, latest: true }
    : { toolResultMatches: `(?:${text})`, latest: true };
}

function* findOthers(document: SourceDocument): Generator<Finding> {
  yield* findOtherKeys(document, [], known.dataset);
  const { value } = document;
  const cases: readonly unknown[] = isRecord(value) && Array.isArray(value['cases']) ? value['cases'] : [];
  for (const [index, testCase] of cases.entries()) {
    yield* findOtherKeys(document, ['cases', index], known.case);
    yield* findOtherKeys(document, ['cases', index, 'expect'], known.expect);
    if (isRecord(testCase) && testCase['mode'] === 'mcp_host') {
      const message = '`mode: mcp_host` cannot be converted exactly; write a case with a prompt';
      yield { ...document.locateKey(['cases', index, 'mode']), code: 'cannot-convert', message };
    }
  }
}
