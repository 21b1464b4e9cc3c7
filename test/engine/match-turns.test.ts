import { describe, expect, it } from 'vitest';
import { describeTurn, judgeTurns, listExpectedCalls } from '../../src/engine/match.ts';
import { defaultMatchOptions } from '../../src/cases/case.ts';
import type { Step } from '../../src/cases/step.ts';
import { assertStep, callStep } from '../support/factories/case-factory.ts';

const prompt: Step = { id: 'ask', kind: 'prompt', prompt: 'Add.' };
const expects = (toolName: string): Step => assertStep({ type: 'toolCalledWith', toolName, args: { args: { a: 1 } } });
const call = (toolName: string) => ({ toolName, arguments: { a: 1 } });

describe('listExpectedCalls', () => {
  it('gives each prompt the toolCalledWith asserts that follow it', () => {
    const steps = [prompt, expects('a'), callStep('x'), expects('b'), prompt, assertStep({ type: 'noToolErrors' })];
    expect(listExpectedCalls(steps)).toEqual([[call('a'), call('b')], []]);
  });

  it('leaves out asserts before the first prompt', () => {
    expect(listExpectedCalls([callStep('x'), expects('x'), prompt])).toEqual([[]]);
  });
});

describe('judgeTurns', () => {
  const turns = [
    { prompt: 'One', actualToolCalls: [call('a')], isCut: false },
    { prompt: 'Two', actualToolCalls: [], isCut: false },
  ];

  it('judges every turn on its own calls', () => {
    const judged = judgeTurns(turns, [[call('a')], [call('a')]], { match: defaultMatchOptions, isNegative: false });
    expect(judged.map((turn) => turn.passed)).toEqual([true, false]);
    expect(judged.map(describeTurn)).toEqual([null, 'In turn 2 the model did not call a.']);
  });

  it('passes a turn of a negative case only when nothing was called', () => {
    const judged = judgeTurns(turns, [[call('a')], []], { match: defaultMatchOptions, isNegative: true });
    expect(judged.map(describeTurn)).toEqual(['In turn 1 the model called unexpectedly a.', null]);
  });
});
