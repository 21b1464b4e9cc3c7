import type { CallToolResult } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { systemClock } from '../../src/base/time.ts';
import type { Step } from '../../src/cases/step.ts';
import { observeCases } from '../../src/mutate/observe-cases.ts';
import { suggestChecks } from '../../src/mutate/suggest-checks.ts';
import { createCaseRecorder } from '../../src/mutate/taped-case.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { type FixtureMcpServer, startFixtureMcpServer } from '../support/servers/fixture-mcp-server.ts';

let server: FixtureMcpServer;
let answer: CallToolResult;

beforeAll(async () => {
  const outputSchema = { type: 'object' as const, required: ['notes'], properties: { notes: { type: 'array' } } };
  server = await startFixtureMcpServer({
    'get-note': { call: () => answer },
    'find-note': {
      inputSchema: { type: 'object', properties: { of: { type: 'string' } } },
      call: () => answer,
    },
    'see-note': { call: () => answer, annotations: { readOnlyHint: true } },
    'list-notes': { call: () => answer, outputSchema },
  });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const json = (value: JsonObject): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
  structuredContent: value,
});

/** Runs a case with each answer, and suggests checks for it. */
async function suggest(answers: readonly [CallToolResult, CallToolResult], steps: Step[] = [callStep('get-note')]) {
  const run = async (given: CallToolResult, serverName: string) => {
    answer = given;
    const recorder = createCaseRecorder();
    // Each run of the command registers the server under another name.
    const own = steps.map((step) => ('serverName' in step ? { ...step, serverName } : step));
    const target = { url: server.url, serverName, protocol: 'legacy' as const };
    await recorder.runCase(createCase(own), target, { clock: systemClock, timeoutMs: 30_000 });
    return recorder.list();
  };
  const observed = await observeCases(await run(answers[0], 'first'), await run(answers[1], 'second'));
  const isPrivate = (text: string) => text.includes('builder-1');
  return { observed, suggestions: await suggestChecks(observed, { replacesBrittle: true, isPrivate }) };
}

const print = (value: unknown) => JSON.stringify(value);

describe('a suggested check', () => {
  it('has no value of the machine, and none that another run changes', async () => {
    const note = (at: string) =>
      json({
        name: 'milk',
        file: '/srv/notes/milk.txt',
        host: 'on builder-1',
        at,
        is: { list: '/srv/notes/all.txt' },
      });
    const { suggestions } = await suggest([note('early'), note('late')]);
    expect(print(suggestions.map(({ add }) => add))).toContain('milk');
    expect(print(suggestions.map(({ add }) => add))).not.toMatch(/user|builder|srv|early|late/);
  });

  it('has no part of a date, of a time or of the mode of a file', async () => {
    const words = (time: string): CallToolResult => ({
      content: [
        {
          type: 'text',
          text: `A note of 41 words\nsize: 23\nmodified: Fri Nov 27 2026 04:${time} GMT+0000 (Coordinated Universal Time)\npermissions: 644\nIt is 10:${time} AM, and the time in UTC is 4:${time} AM.\nThe week of the year is 48`,
        },
      ],
    });
    const { suggestions } = await suggest([words('33:17'), words('33:18')]);
    const printed = print(suggestions.map(({ add }) => add));
    expect(printed).toContain('A note of 41 words');
    expect(printed).not.toMatch(/GMT|644|4:33|48/);
    const { suggestions: ofDocument } = await suggest([
      json({ mode: 644, name: 'milk', words: 41 }),
      json({ mode: 644, name: 'milk', words: 41 }),
    ]);
    expect(print(ofDocument.map(({ add }) => add))).toContain('milk');
    expect(print(ofDocument.map(({ add }) => add))).not.toContain('644');
  });

  it('has a path of the workspace of neither run', async () => {
    const text = (path: string): CallToolResult => ({
      content: [{ type: 'text', text: `Wrote ${path}\nAll is well` }],
    });
    const { suggestions } = await suggest([text('/tmp/one/a.txt'), text('/tmp/two/a.txt')]);
    expect(print(suggestions.map(({ add }) => add))).toContain('All is well');
    expect(print(suggestions.map(({ add }) => add))).not.toContain('/tmp');
  });

  it('is not chosen from one run alone', async () => {
    const { suggestions } = await suggest([json({ name: 'milk' }), { ...json({ name: 'milk' }), isError: true }]);
    expect(suggestions).toEqual([]);
  });
});

describe('a check of a declaration', () => {
  it('is suggested for the arguments and the annotations of a tool', async () => {
    const { suggestions } = await suggest([json({ name: 'milk' }), json({ name: 'milk' })], [callStep('see-note')]);
    const printed = print(suggestions.map(({ add }) => add));
    expect(printed).toContain('{"argumentsMatchToolSchema":"see-note"}');
    expect(printed).toContain('{"type":"noDestructiveToolCalled"}');
  });

  it('follows the first answers whose calls send the arguments, and no further one', async () => {
    const calls = [{}, { of: 'milk' }, { of: 'bread' }].map((args) => callStep('find-note', args));
    const { observed, suggestions } = await suggest([json({ name: 'milk' }), json({ name: 'milk' })], calls);
    expect(observed.observations).toHaveLength(3);
    const declared = suggestions
      .filter(({ add }) => print(add).includes('argumentsMatchToolSchema'))
      .map(({ stepIndex }) => stepIndex);
    expect(declared).toEqual([0, 1]);
  });

  it('follows no call that fails', async () => {
    const failing = { ...json({ name: 'milk' }), isError: true };
    const { suggestions } = await suggest([failing, failing], [callStep('find-note', { of: 'milk' })]);
    expect(print(suggestions)).not.toContain('argumentsMatchToolSchema');
  });
});

describe('a check of the whole answer', () => {
  it.each([
    ['get-note', 'whose lists have no order', { names: ['milk', 'apple', 'bread'] }],
    [
      'get-note',
      'whose items have no order',
      { notes: ['milk', 'apple', 'bread'].map((of) => ({ of, isDone: false })) },
    ],
    ['list-notes', 'of which the output schema says most', { notes: [] }],
  ])('of %s %s is replaced by one that tolerates more', async (tool, _, value) => {
    const whole = assertStep({ type: 'toolResultEquals', value });
    const { suggestions } = await suggest([json(value), json(value)], [callStep(tool), whole]);
    expect(suggestions.map(({ remove }) => remove)).toEqual([[1]]);
    expect(print(suggestions.map(({ add }) => add))).toMatch(/unordered|contains|maxItems/);
  });
});

describe('an answer with the environment of the server', () => {
  it('is not measured', async () => {
    const environment = json({ HOME: '/home/ann', MCP_EVAL_CI_PROCESS: 'f3' });
    const { observed } = await suggest([environment, environment]);
    expect(observed.observations).toEqual([]);
    expect(observed.leftOut.map(({ reason }) => reason)).toEqual([
      'an answer has the environment of the server, which differs on each machine',
    ]);
  });
});
