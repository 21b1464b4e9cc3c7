import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../src/base/redaction.ts';
import { systemClock } from '../../src/base/time.ts';
import type { CaseOutcome } from '../../src/engine/outcome.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { Target } from '../../src/mcp/session.ts';
import type { Capture } from '../../src/checks/captures.ts';
import type { TestCase } from '../../src/cases/case.ts';
import type { Step } from '../../src/cases/step.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { type FixtureMcpServer, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';

let server: FixtureMcpServer;
let target: Target;

beforeAll(async () => {
  server = await startFixtureMcpServer({
    create: { call: () => ({ ...text('{"note":{"id":"a.b"}}'), structuredContent: { id: 7, tags: ['x'] } }) },
    echo: { call: ({ args }) => ({ ...text(JSON.stringify(args)), structuredContent: args }) },
    fail: { call: () => ({ ...text('out of order'), isError: true }) },
    say: { call: () => text('Created note (id: n-7) at 09:30.') },
  });
  target = { url: server.url, serverName: 'notes', protocol: 'legacy' };
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const facts = { iteration: 3, uuid: 'c0ffee', variables: new Map([['TENANT', new Secret('acme')]]) };

const create = (capture: Record<string, Capture>): Step => ({ ...callStep('create'), capture });

async function run(steps: Step[], overrides: Partial<TestCase> = {}): Promise<CaseOutcome> {
  const testCase = createCase(steps, { advancedConfig: { placeholders: true }, ...overrides });
  return await runCase(testCase, target, { clock: systemClock, timeoutMs: 30_000, facts });
}

function summarize({ status, result, error, steps }: CaseOutcome): unknown {
  return { status, result, error, steps: steps.map((step) => step.status) };
}

describe('a value that a step captures', () => {
  it('keeps its type where it stands alone, and is printed inside a text', async () => {
    const outcome = await run([
      create({ id: '/structuredContent/id', tags: '/structuredContent/tags' }),
      callStep('echo', {
        alone: '{{id}}',
        list: '{{ tags }}',
        inside: 'note {{id}} {{tags}}',
        deep: [{ id: '{{id}}' }],
      }),
      assertStep({
        type: 'toolResultEquals',
        value: { alone: '{{id}}', list: '{{tags}}', inside: 'note 7 ["x"]', deep: [{ id: '{{id}}' }] },
      }),
    ]);
    expect(summarize(outcome)).toMatchObject({ result: 'passed', error: null });
    const args = { alone: 7, list: ['x'], inside: 'note 7 ["x"]', deep: [{ id: 7 }] };
    expect(outcome.actualToolCalls[1]).toEqual({ toolName: 'echo', arguments: args });
  });

  it('may come from JSON inside a text of the result', async () => {
    const outcome = await run([create({ id: '/content/0/text/note/id' }), callStep('echo', { id: '{{id}}' })]);
    expect(outcome.actualToolCalls[1]?.arguments).toEqual({ id: 'a.b' });
  });

  it('is plain text in a pattern, and one key in a pointer', async () => {
    const captured = create({ id: '/content/0/text/note/id' });
    const echo = callStep('echo', { id: '{{id}}', 'a.b': 1 });
    const matches = (pattern: string) => assertStep({ type: 'toolResultMatches', pattern, toolName: 'echo' });
    expect((await run([captured, echo, matches('"id":"{{id}}"')])).result).toBe('passed');
    expect((await run([captured, callStep('echo', { id: 'aXb' }), matches('"{{id}}"')])).result).toBe('failed');
    const atPath = assertStep({ type: 'toolResultEquals', path: '/{{id}}', value: 1 });
    expect((await run([captured, echo, atPath])).result).toBe('passed');
  });

  it('is filled into every part of an assertion', async () => {
    const captured = create({ id: '/content/0/text/note/id' });
    const echo = callStep('echo', { id: '{{id}}' });
    const either = (needle: string): Step =>
      assertStep({
        type: 'anyOf',
        assertions: [
          { type: 'toolResultMatches', pattern: '^{{id}}$', latest: true },
          { type: 'not', assertion: { type: 'toolResultContains', needle, latest: true } },
        ],
      });
    expect((await run([captured, echo, either('{{id}}!')])).result).toBe('passed');
    expect((await run([captured, echo, either('{{id}}')])).result).toBe('failed');
    const block = (text: string) => assertStep({ type: 'toolResultContent', block: { type: 'text', text } });
    expect((await run([captured, echo, block('{{id}}')])).result).toBe('passed');
    expect((await run([captured, echo, block('{{id}}!')])).result).toBe('failed');
  });

  it('is known to the checks at the end, which are reported as they were judged', async () => {
    const check = { type: 'toolCalledWith' as const, toolName: 'echo', args: { args: { id: '{{id}}' } } };
    const predicates = { mode: 'replace' as const, list: [check] };
    const steps = (id: unknown) => [create({ id: '/structuredContent/id' }), callStep('echo', { id })];
    const passed = await run(steps('{{id}}'), { predicates });
    expect(passed.result).toBe('passed');
    expect(passed.predicates[0]?.predicate).toMatchObject({ args: { args: { id: 7 } } });
    expect((await run(steps(8), { predicates })).result).toBe('failed');
  });

  it.each([
    ['/structuredContent/total', '/structuredContent has only "id"; "tags".'],
    ['/structuredContent/tags/1', '/structuredContent/tags has 1 item.'],
    ['/content/0/text/id', '/content/0/text is "{\\"note\\":{\\"id\\":\\"a.b\\"}}".'],
    ['/meta', 'the result has only "content"; "structuredContent".'],
  ])('that is not there fails the step: %s', async (pointer, there) => {
    const outcome = await run([create({ total: pointer }), callStep('echo')]);
    expect(summarize(outcome)).toEqual({
      status: 'completed',
      result: 'failed',
      error: `"total" captures ${pointer}: ${there}`,
      steps: ['fail', 'skipped'],
    });
  });

  it.each([
    ['id: ([a-z]-\\d+)', 'n-7'],
    ['(?:id|ID): \\S+\\)', 'id: n-7)'],
    ['note|(task)', null],
  ])('is a part of a text: the group of a pattern, or the whole match: %s', async (matches, value) => {
    const say: Step = { ...callStep('say'), capture: { id: { path: '/content/0/text', matches } } };
    const outcome = await run([say, callStep('echo', { id: '{{id}}' })]);
    if (value === null) expect(summarize(outcome)).toMatchObject({ steps: ['fail', 'skipped'] });
    else expect(outcome.actualToolCalls[1]?.arguments).toEqual({ id: value });
  });

  it.each([
    [
      'say',
      { path: '/content/0/text', matches: 'task (\\d+)' },
      '/content/0/text, matching "task (\\\\d+)": nothing in "Created note (id: n-7) at 09:30." matches.',
    ],
    ['say', { path: '/content/1/text', matches: 'id' }, '/content/1/text, matching "id": /content has 1 item.'],
    ['create', { path: '/structuredContent/id', matches: '7' }, '/structuredContent/id, matching "7": 7 is no text.'],
  ])('says what is there where no part of a text matches: %#', async (tool, capture, reason) => {
    const outcome = await run([{ ...callStep(tool), capture: { id: capture } }, callStep('echo', { id: '{{id}}' })]);
    expect(summarize(outcome)).toEqual({
      status: 'completed',
      result: 'failed',
      error: `"id" captures ${reason}`,
      steps: ['fail', 'skipped'],
    });
  });

  it('fills the pattern of another capture as plain text, and its path as one key', async () => {
    const outcome = await run([
      create({ note: '/content/0/text/note/id', key: '/structuredContent/tags/0' }),
      {
        ...callStep('echo', { x: '[a+b] [a.b]' }),
        capture: { found: { path: '/structuredContent/{{key}}', matches: '{{note}}' } },
      },
      callStep('echo', { found: '{{found}}' }),
    ]);
    expect(outcome.actualToolCalls[2]?.arguments).toEqual({ found: 'a.b' });
  });

  it('is not looked for in the result of a step that failed, and what needs it is not run', async () => {
    const fail: Step = { ...callStep('fail'), capture: { id: '/structuredContent/id' } };
    const predicates = { mode: 'replace' as const, list: [{ type: 'toolResultContains' as const, needle: '{{id}}' }] };
    const outcome = await run([fail, callStep('create'), callStep('echo', { id: '{{id}}' })], { predicates });
    expect(summarize(outcome)).toEqual({
      status: 'completed',
      result: 'failed',
      error: expect.stringContaining('fail answered with an error: "out of order".'),
      steps: ['fail', 'ok', 'skipped'],
    });
    expect(outcome.actualToolCalls.map(({ toolName }) => toolName)).toEqual(['fail', 'create']);
  });

  it('that no step captured leaves the iteration without a result', async () => {
    expect(summarize(await run([callStep('echo', { id: '{{id}}' })]))).toMatchObject({
      status: 'failed',
      result: null,
    });
  });
});

describe('values of an iteration', () => {
  it('are its number, its UUID, and the variables that the job allows', async () => {
    const args = { n: '{{iteration}}', again: '{{uuid}}', path: '/{{env.TENANT}}/{{uuid}}' };
    const outcome = await run([callStep('echo', args)]);
    expect(outcome.actualToolCalls[0]?.arguments).toEqual({ n: 3, again: 'c0ffee', path: '/acme/c0ffee' });
    const withheld = await run([callStep('echo', { token: '{{env.TOKEN}}' })]);
    expect(withheld).toMatchObject({ result: null, actualToolCalls: [] });
  });

  it('are not filled in for a case that has no placeholders, nor where a text has `\\{{`', async () => {
    const args = { text: '{{uuid}}' };
    const plain = await run([callStep('echo', args)], { advancedConfig: {} });
    expect(plain.actualToolCalls[0]?.arguments).toEqual(args);
    const escaped = await run([callStep('echo', { text: '\\{{uuid}} {{uuid}}' })]);
    expect(escaped.actualToolCalls[0]?.arguments).toEqual({ text: '{{uuid}} c0ffee' });
  });
});
