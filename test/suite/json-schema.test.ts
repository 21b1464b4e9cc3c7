import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { buildEvalsJsonSchema } from '../../src/suite/suite-schema.ts';
import { readSuite } from '../../src/suite/read.ts';

const validate = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(
  buildEvalsJsonSchema(),
);

const withCase = (keys: string) => `suite: a\ncases: [{ title: b, steps: [{ toolCall: c }]${keys} }]`;
const withStep = (step: string) => `suite: a\ncases: [{ title: b, steps: [${step}] }]`;
const withKey = (key: string) => `${withCase('')}\n${key}`;

const valid = [
  withCase(''),
  withCase(', id: x, tags: [a], required: true, negative: false, runs: 100, timeout: 1.5s, model: a/b/c'),
  withCase(', checks: [noToolErrors], failOnToolError: false, expectedOutput: "", scenario: s'),
  withCase(', checks: { mode: replace, list: [{ turnCountUnder: 3 }] }'),
  withCase(', match: { toolCallOrder: exact, extraToolCalls: 0, arguments: ignore }'),
  withKey('$schema: x'),
  withKey('policy: { minimumPassRate: 90 }'),
  withKey('policy: { minimumPassRate: 99.5% }'),
  withKey('policy: {}'),
  withKey('match: { extraToolCalls: unlimited }'),
  withStep('{ toolCall: a, arguments: { a: { b: [1] } } }, { assert: { toolResultEquals: null, path: "" } }'),
  withStep('{ kind: toolCall, toolName: a }, { kind: assert, assertion: { type: toolLatencyUnder, ms: 4 } }'),
  withStep('{ interact: a, action: { kind: click, target: { css: a } } }, { assert: { textVisible: a, toolName: b } }'),
  withStep('{ assert: { toolCalledWith: a, arguments: {} } }, { assert: { toolResultMatchesSchema: false } }'),
  withStep('{ assert: { not: { toolResultContains: a } } }, { assert: { type: not, assertion: noToolErrors } }'),
  withStep('{ assert: { toolCallCountUnder: 3, role: advisory, severity: warn } }'),
  withStep('{ assert: { type: noEndingQuestion, role: advisory } }, { assert: { onlyToolsCalled: [] } }'),
  withStep('{ assert: { toolResultMatchesSchema: { const: 1 }, latest: true } }'),
  withStep('{ assert: { toolResultContains: a, path: /b/0 } }, { assert: { toolResultMatches: a, path: /b } }'),
  withStep('{ assert: { toolResultContent: { type: image, mimeType: image/*, width: 20 }, count: 2 } }'),
  withStep('{ assert: { type: toolResultContent, block: { type: resource_link, uri: "a://*" } } }'),
  withStep('{ assert: { toolError: { code: -32602, contains: a, matches: b }, toolName: c } }'),
  withStep('{ assert: { anyOf: [{ toolResultContains: a }, { not: noToolErrors }, { allOf: [noToolErrors] }] } }'),
  withStep('{ assert: { type: allOf, assertions: [noToolErrors], role: advisory } }'),
  withStep('{ assert: { not: { anyOf: [{ toolResultContains: a }] } } }'),
  withKey('checks: [{ anyOf: [noToolErrors, { type: anyOf, assertions: [{ toolError: { code: 1 } }] }] }]'),
  withStep('{ assert: { toMatchFile: snapshots/a.json, path: /b, ignore: [/c/*, "[0-9]+"], toolName: d } }'),
  withStep('{ assert: { toolResultEquals: [1.5], tolerance: 0.1, unordered: true } }'),
  withStep('ping, listTools, listPrompts, { repeat: [ping, listResources], until: noToolErrors }'),
  withCase(', setup: [ping], teardown: [listResourceTemplates]'),
];

const invalid = [
  'suite: a',
  'suite: a\ncases: []',
  'suite: ""\ncases: [{ title: b, steps: [{ toolCall: c }] }]',
  withKey('runz: 1'),
  withKey('runs: 0'),
  withKey('runs: 101'),
  withKey('id: a b'),
  withKey('model: a'),
  withKey('timeout: 60'),
  withKey('timeout: 60 parsecs'),
  withKey('policy: { minimumPassRate: 0.9 }'),
  withKey('policy: { minimumPassRate: 101 }'),
  withKey('policy: { minimumPassRate: most }'),
  withKey('policy: { minPassRate: 90% }'),
  withKey('match: { extraToolCalls: many }'),
  withKey('checks: [noToolError]'),
  withKey('checks: [{ textVisible: a, toolName: b }]'),
  withCase(', title2: b'),
  withCase(', checks: { mode: foo }'),
  withStep(''),
  withStep('{ toolCall: a, args: {} }'),
  withStep('{ promt: a }'),
  withStep('toolCall'),
  withStep('pong'),
  withCase(', setup: [prompt]'),
  withStep('{ assert: { toolResultContains: 5 } }'),
  withStep('{ assert: { toolResultEquals: 5, path: a } }'),
  withStep('{ assert: { toolResultContains: a, path: b } }'),
  withStep('{ assert: { toolResultEquals: 5, tolerance: -1 } }'),
  withStep('{ assert: { toolResultEquals: 5, unordered: yes please } }'),
  withStep('{ assert: { toolResultContent: image } }'),
  withStep('{ assert: { toolResultContent: { type: video } } }'),
  withStep('{ assert: { toolResultContent: { type: text, width: 20 } } }'),
  withStep('{ assert: { toolResultContent: { type: image }, count: 0 } }'),
  withStep('{ assert: { toolError: {} } }'),
  withStep('{ assert: { toMatchFile: "" } }'),
  withStep('{ assert: { toMatchFile: snapshots/a.json, ignore: /b } }'),
  withStep('{ assert: { anyOf: [] } }'),
  withStep('{ assert: { anyOf: noToolErrors } }'),
  withStep('{ assert: { anyOf: [{ toolResultContain: a }] } }'),
  withStep('{ assert: { anyOf: [{ textVisible: a, toolName: b }] } }'),
  withStep('{ assert: { toolError: { code: high } } }'),
  withStep('{ assert: { toolResultMatchesSchema: [] } }'),
  withStep('{ assert: { type: noToolErrors, kind: textVisible } }'),
  withStep('{ assert: { type: noToolErrors, role: nice } }'),
  withStep('{ assert: { not: { not: noToolErrors } } }'),
  withStep('{ assert: { not: { textVisible: a, toolName: b } } }'),
  withStep('{ assert: { toolCalledBefore: a } }'),
  withStep('{ assert: { responseCloseTo: a, maxDistance: 2 } }'),
  withStep('{ interact: a, action: { kind: click, target: { nth: 1 } } }'),
];

describe('buildEvalsJsonSchema', () => {
  it.each(valid)('accepts, as readSuite does: %s', (text) => {
    expect(readSuite(text, { file: 'a' }).findings).toEqual([]);
    expect(validate(parse(text)) ? [] : validate.errors).toEqual([]);
  });

  it.each(invalid)('refuses, as readSuite does: %s', (text) => {
    expect(readSuite(text, { file: 'a' }).suite).toBeNull();
    expect(validate(parse(text))).toBe(false);
  });

  it('describes what an editor completes', () => {
    expect(buildEvalsJsonSchema()).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'urn:mcp-eval-ci:evals:1',
      title: 'Evals of an MCP server',
      required: ['suite', 'cases'],
      additionalProperties: false,
      properties: {
        suite: { type: 'string', description: 'Name of the suite.' },
        timeout: { type: 'string', examples: ['60s', '500ms', '2m'] },
      },
    });
  });
});
