import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RunConcurrency, scheduleCases } from '../../src/runner/schedule.ts';
import type { Step } from '../../src/cases/step.ts';

const automatic: RunConcurrency = { setting: 'auto', source: 'default', isIndependent: false, hasOneProcess: false };
const tools = new Map([
  ['read', true],
  ['list', true],
  ['write', false],
]);

const call = (toolName: string): Step => ({ id: 's', kind: 'toolCall', serverName: '', toolName, arguments: {} });
const command: Step = { id: 'c', kind: 'command', command: ['mkdir', 'out'], exitCode: 0 };
const prompt: Step = { id: 's', kind: 'prompt', prompt: 'Read it.' };

/** Cases of two iterations each, named by their place. */
function schedule(
  cases: ReadonlyArray<readonly Step[]>,
  concurrency: Partial<RunConcurrency> = {},
  readOnlyTools: ReadonlyMap<string, boolean> | null = tools,
) {
  return scheduleCases(
    cases.map((steps, index) => ({
      testCase: { steps: [...steps] },
      readOnlyTools,
      iterations: [`${index}a`, `${index}b`],
    })),
    { ...automatic, ...concurrency },
  );
}

describe('scheduleCases', () => {
  it('runs cases side by side that call read-only tools alone', () => {
    const { batches, report } = schedule([[call('read')], [call('list'), call('read')]]);
    expect(batches).toEqual([{ limit: 4, iterations: ['0a', '0b', '1a', '1b'] }]);
    expect(report).toEqual({
      setting: 'auto',
      source: 'default',
      rule: 'read-only',
      limit: 4,
      tool: null,
      cases: 2,
      serialCases: 0,
    });
  });

  it('runs a case alone, in its place, that calls any other tool', () => {
    const { batches, report } = schedule([
      [call('read')],
      [call('read'), call('write')],
      [call('write')],
      [call('list')],
    ]);
    expect(batches).toEqual([
      { limit: 4, iterations: ['0a', '0b'] },
      { limit: 1, iterations: ['1a', '1b', '2a', '2b'] },
      { limit: 4, iterations: ['3a', '3b'] },
    ]);
    expect(report).toMatchObject({ rule: 'not-read-only', limit: 4, tool: 'write', cases: 4, serialCases: 2 });
  });

  it.each([
    ['a tool that is not listed', [[call('gone')]], tools, { rule: 'not-read-only', tool: 'gone' }],
    ['a prompt, which may call any tool', [[prompt]], tools, { rule: 'not-read-only', tool: 'write' }],
    ['a command', [[call('read'), command]], tools, { rule: 'command', tool: 'mkdir' }],
    ['a server that did not list its tools', [[call('read')]], null, { rule: 'tools-unknown', tool: null }],
  ] as const)('runs everything alone with %s', (_, cases, listed, expected) => {
    const { batches, report } = schedule(cases, {}, listed);
    expect(batches).toEqual([{ limit: 1, iterations: ['0a', '0b'] }]);
    expect(report).toMatchObject({ ...expected, limit: 1, serialCases: 1 });
  });

  it('runs a prompt side by side where every tool is read-only', () => {
    expect(schedule([[prompt]], {}, new Map([['read', true]])).report).toMatchObject({ rule: 'read-only', limit: 4 });
  });

  it.each([
    [{ isIndependent: true }, 'independent', 4],
    [{ setting: 7 }, 'given', 7],
    [{ setting: 1, isIndependent: true }, 'given', 1],
    [{ setting: 7, hasOneProcess: true }, 'one-process', 1],
    [{ isIndependent: true, hasOneProcess: true }, 'one-process', 1],
  ] as const)('does not look at the tools with %j', (concurrency, rule, limit) => {
    const { batches, report } = schedule([[call('write')], [call('read')]], concurrency);
    expect(batches.map((batch) => batch.limit)).toEqual([limit]);
    expect(report).toMatchObject({ rule, limit, tool: null, serialCases: limit === 1 ? 2 : 0 });
  });

  it('keeps the order of all iterations, and never puts one that may write next to another', () => {
    const steps = fc.array(fc.constantFrom('read', 'list', 'write', 'gone'), { maxLength: 3 });
    fc.assert(
      fc.property(fc.array(steps, { minLength: 1, maxLength: 8 }), (cases) => {
        const { batches } = schedule(cases.map((names) => names.map(call)));
        const order = batches.flatMap(({ iterations }) => iterations);
        expect(order).toEqual(cases.flatMap((_, index) => [`${index}a`, `${index}b`]));
        for (const { iterations, limit } of batches) {
          const mayWrite = iterations.some((name) =>
            cases[Number.parseInt(name, 10)]?.some((tool) => tool === 'write' || tool === 'gone'),
          );
          expect(limit === 1).toBe(mayWrite);
        }
      }),
    );
  });
});
