import { z } from 'zod';
import { isRecord } from '../base/json.ts';
import { explainIssues } from '../suite/explain-issues.ts';
import type { Finding } from '../suite/findings.ts';
import type { DocumentPath, SourceDocument } from '../suite/source-document.ts';
import { type Converted, findOtherKeys } from './converted.ts';

const value = z.union([z.string(), z.number()]);

/** What of a configuration of promptfoo with the provider `mcp` has a counterpart. */
const configSchema = z.looseObject({
  description: z.string().optional(),
  providers: z.tuple([z.union([z.literal('mcp'), z.looseObject({ id: z.literal('mcp') })])]),
  prompts: z.tuple([z.string()]),
  evaluateOptions: z.looseObject({ repeat: z.int().min(1).optional() }).optional(),
  tests: z
    .array(
      z.looseObject({
        description: z.string().optional(),
        vars: z.record(z.string(), z.unknown()).optional(),
        assert: z
          .array(z.looseObject({ type: z.string(), value: z.union([value, z.array(value)]).optional() }))
          .optional(),
      }),
    )
    .min(1),
});

type Test = z.output<typeof configSchema>['tests'][number];
type Assertion = NonNullable<Test['assert']>[number];

const known = {
  config: ['$schema', 'description', 'tags', 'providers', 'prompts', 'evaluateOptions', 'tests', 'metadata'],
  provider: ['id', 'label', 'config'],
  settings: ['enabled', 'server', 'verbose', 'debug'],
  options: ['repeat', 'maxConcurrency', 'showProgressBar'],
  test: ['description', 'vars', 'assert', 'metadata'],
  assertion: ['type', 'value'],
};

/** `icontains-any`, and `not-` before it: what is searched for, how, and whether it must be missing. */
const assertionType = /^(not-)?(i)?contains(?:-(any|all))?$/;

/** What stands around the texts of a result, in which promptfoo searches, too. */
const envelope = '[{"type":"text","text":""},{"type":"text","text":""}]';

interface Place {
  document: SourceDocument;
  path: DocumentPath;
  refused: Finding[];
}

/** Converts a configuration of promptfoo whose tests call tools by the provider `mcp`. */
export function convertPromptfoo(document: SourceDocument): Converted {
  const refused = [...findOthers(document)];
  const parsed = configSchema.safeParse(document.value);
  if (!parsed.success) {
    const findings = refused.length > 0 ? refused : explainIssues(configSchema, document, parsed.error.issues);
    return { written: null, findings, notes: [] };
  }
  const { description, prompts, evaluateOptions = {}, tests } = parsed.data;
  const { repeat = 1 } = evaluateOptions;
  const [prompt] = prompts;
  const cases = tests.map((test, index) => writeTest(test, { prompt, document, path: ['tests', index], refused }));
  return {
    written: {
      suite: description === undefined || description === '' ? 'promptfoo' : description,
      ...(repeat > 1 && { runs: repeat }),
      cases,
    },
    findings: refused,
    notes: [
      'The server is not part of an evals file; give it to the gate.',
      'Texts are searched for in the texts of a result and in its structured content. promptfoo searches the JSON of all content, images and links included.',
      'A JSON-RPC error is an error of the tool.',
    ],
  };
}

function writeTest(
  { description, vars = {}, assert = [] }: Test,
  { prompt, ...place }: Place & { prompt: string },
): Readonly<Record<string, unknown>> {
  const { document, path, refused } = place;
  const own = vars['prompt'];
  const text = own === undefined ? prompt : own;
  const at = own === undefined ? ['prompts', 0] : [...path, 'vars', 'prompt'];
  for (const [name, each] of Object.entries(vars)) {
    if (!Array.isArray(each)) continue;
    const message = `\`${name}\` has several values, which are tests of their own; write a test for each`;
    refused.push({ ...document.locateKey([...path, 'vars', name]), code: 'cannot-convert', message });
  }
  const call = readCall(text);
  if (call === null) {
    const message = 'Is no JSON with `tool` and `args`, or has a placeholder; write the call itself';
    refused.push({ ...document.locateValue(at), code: 'cannot-convert', message });
  }
  return {
    title: description === undefined || description === '' ? `Test ${Number(path[1]) + 1}` : description,
    // An error of a tool is an answer.
    failOnToolError: false,
    steps: [
      {
        toolCall: call?.tool ?? '',
        ...(call !== null && Object.keys(call.args).length > 0 && { arguments: call.args }),
      },
      ...assert.flatMap((assertion, index) =>
        writeAssertion(assertion, { ...place, path: [...path, 'assert', index] }).map((each) => ({ assert: each })),
      ),
    ],
  };
}

/** Reads a call as the provider does, which takes the first name that is not empty. */
function readCall(text: unknown): { tool: string; args: Readonly<Record<string, unknown>> } | null {
  if (typeof text !== 'string' || /\{\{|\{%|\{#|^file:/.test(text)) return null;
  const call = parseJson(text);
  if (!isRecord(call)) return null;
  const tool = call['tool'] || call['toolName'] || call['function'] || call['functionName'] || call['name'];
  const args = call['args'] || call['arguments'] || call['params'] || call['parameters'] || {};
  return typeof tool === 'string' ? { tool, args: isRecord(args) ? args : {} } : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function writeAssertion({ type, value: wanted }: Assertion, { document, path, refused }: Place): unknown[] {
  const refuse = (key: string, message: string): [] => {
    refused.push({ ...document.locateValue([...path, key]), code: 'cannot-convert', message });
    return [];
  };
  const [match, not, insensitive, kind] = assertionType.exec(type) ?? [];
  if (match === undefined) return refuse('type', `\`${type}\` cannot be converted exactly; write this part by hand`);
  if (
    Array.isArray(wanted) !== (kind !== undefined) ||
    wanted === undefined ||
    (Array.isArray(wanted) && wanted.length === 0)
  ) {
    return refuse('type', `\`${type}\` needs ${kind === undefined ? 'a text' : 'a list of texts'} here`);
  }
  const texts = (Array.isArray(wanted) ? wanted : [wanted]).map(String);
  const caseSensitive = insensitive === undefined;
  for (const text of texts) {
    const isAround = caseSensitive ? envelope.includes(text) : envelope.includes(text.toLowerCase());
    if (/["\\\p{Cc}]|\{\{|\{%|\{#|^file:/u.test(text) || isAround || !/\S/.test(text)) {
      const message = `${JSON.stringify(text)} may be found in the JSON around the texts, is written otherwise there, or has a placeholder; write this part by hand`;
      return refuse('value', message);
    }
  }
  const found = texts.map((text) => ({ toolResultContains: text, caseSensitive, latest: true }));
  const [only] = found;
  if (kind === 'any') return not === undefined ? [{ anyOf: found }] : [{ not: { anyOf: found } }];
  if (kind === 'all') return not === undefined ? found : [{ not: { allOf: found } }];
  return not === undefined ? found : [{ not: only }];
}

function* findOthers(document: SourceDocument): Generator<Finding> {
  yield* findOtherKeys(document, [], known.config);
  yield* findOtherKeys(document, ['providers', 0], known.provider);
  yield* findOtherKeys(document, ['providers', 0, 'config'], known.settings);
  yield* findOtherKeys(document, ['evaluateOptions'], known.options);
  const { value: config } = document;
  const tests: readonly unknown[] = isRecord(config) && Array.isArray(config['tests']) ? config['tests'] : [];
  for (const [index, test] of tests.entries()) {
    yield* findOtherKeys(document, ['tests', index], known.test);
    const asserts: readonly unknown[] = isRecord(test) && Array.isArray(test['assert']) ? test['assert'] : [];
    for (const at of asserts.keys()) yield* findOtherKeys(document, ['tests', index, 'assert', at], known.assertion);
  }
}
