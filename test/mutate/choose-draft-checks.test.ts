import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { ObservedStep, Outcome } from '../../src/explore/exploration.ts';
import { volatileMark } from '../../src/explore/stability/forms.ts';
import { chooseDraftChecks } from '../../src/mutate/choose-draft-checks.ts';

const observe = (outcome: Outcome): ObservedStep => ({
  request: { kind: 'tool', tool: 'get-note', arguments: { id: 'alpha' } },
  isValid: null,
  observation: { outcome, files: { added: [], changed: [], removed: [] }, noise: null },
});

const answer = (result: JsonObject) => observe({ kind: 'result', isError: result['isError'] === true, result });
const say = (text: string, isError = false) =>
  answer({ content: [{ type: 'text', text }], ...(isError && { isError }) });
const show = (value: JsonObject) =>
  answer({ content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value });

/** Chooses the checks of a case with one call, or several, and these checks at its end. */
async function choose(
  observed: ObservedStep | readonly ObservedStep[],
  checks: readonly JsonObject[],
  change: { isCommentedOut?: boolean; settled?: ReadonlySet<number> } = {},
) {
  const steps = [observed].flat();
  const call = { toolCall: 'get-note', arguments: { id: 'alpha' } };
  const draft = {
    content: { title: 'Reads', steps: [...steps.map(() => call), ...checks.map((assert) => ({ assert }))] },
    comments: [],
    isCommentedOut: false,
    ...change,
  };
  const [chosen] = await chooseDraftChecks([draft], {
    listSteps: () => steps,
    tools: null,
    isPrivate: (text) => text === 'secret',
  });
  const { title, steps: written } = chosen?.content ?? {};
  expect(title).toBe('Reads');
  return (written as JsonObject[]).flatMap(({ assert }) => assert ?? []);
}

describe('chooseDraftChecks', () => {
  it('replaces a check that fails on harmless changes by the fewest that notice as much', async () => {
    const note = { id: 'alpha', text: 'Buy milk' };
    expect(await choose(show(note), [{ toolResultEquals: note }])).toEqual([{ toolResultEquals: note, partial: true }]);
  });

  it('adds what notices more, and drops what that says already', async () => {
    const text = 'Notes\nBuy milk and a loaf of bread\nCall Ann';
    const chosen = await choose(say(text), [{ toolResultContains: 'buy milk' }, { toolResultContains: 'Call Ann' }]);
    expect(chosen).toEqual([{ toolResultEquals: text }]);
    expect(await choose(say('Buy milk'), [{ toolResultIsError: false }])).toEqual([{ toolResultEquals: 'Buy milk' }]);
  });

  it('keeps the checks of a settled call', async () => {
    const checks = [{ toolResultIsError: false }];
    expect(await choose(say('Added the note'), checks, { settled: new Set([0]) })).toEqual(checks);
    expect(await choose(say('Added the note'), checks, { settled: new Set([1]) })).not.toEqual(checks);
  });

  it('keeps a check of a time, and of a document of nulls, of which no change is known', async () => {
    const dated = [{ toolResultEquals: 'bread since 2019-05-01' }];
    expect(await choose(say('bread since 2019-05-01'), dated)).toEqual(dated);
    const structuredContent = { entities: null, page: { next: null } };
    const none = [{ toolResultEquals: structuredContent }];
    const read = answer({ content: [{ type: 'text', text: 'Graph read' }], structuredContent });
    expect(await choose(read, none)).toEqual(none);
  });

  it('keeps checks that notice as much as others would', async () => {
    const checks = [{ toolResultEquals: 'alpha', path: '/id' }];
    expect(await choose(show({ id: 'alpha' }), checks)).toEqual(checks);
    const refusal = [{ toolError: { contains: 'was found here' } }];
    expect(await choose(say('No note alpha was found here', true), refusal)).toEqual(refusal);
    const schema = { toolResultMatchesSchema: { type: 'object', required: ['at'] } };
    expect(await choose(show({ at: volatileMark }), [schema])).toEqual([schema]);
  });

  it('asserts no volatile part, no private value and none that a person would not read', async () => {
    const { length } = JSON.stringify(
      await choose(say(`Made ${volatileMark} with 5 parts`), [{ toolResultContains: 'Made' }]),
    );
    expect(length).toBeLessThan(120);
    const value = { at: volatileMark, token: 'secret', name: 'Ann' };
    const chosen = await choose(show(value), [{ toolResultIsError: false }]);
    expect(chosen).toEqual([{ toolResultEquals: 'Ann', path: '/name' }]);
    const image = answer({ content: [{ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }] });
    const block = { toolResultContent: { type: 'image' } };
    expect(await choose(image, [block])).toEqual([block]);
  });

  it('chooses for each case on its own where several have one title', async () => {
    const draft = (id: string) => ({
      content: {
        title: 'Reads',
        steps: [{ toolCall: 'get-note', arguments: { id } }, { assert: { toolResultIsError: false } }],
      },
      comments: [],
      isCommentedOut: false,
      observed: [say(`The note ${id}`)],
    });
    const drafts = ['alpha', 'beta'].map(draft);
    const options = {
      listSteps: ({ observed }: (typeof drafts)[number]) => observed,
      tools: null,
      isPrivate: () => false,
    };
    const chosen = await chooseDraftChecks(drafts, options);
    expect(chosen.map(({ content }) => content.steps[1])).toEqual([
      { assert: { toolResultEquals: 'The note alpha' } },
      { assert: { toolResultEquals: 'The note beta' } },
    ]);
  });

  it('keeps the words of an error, also of one that does not say that it is one', async () => {
    const words = [{ toolResultContains: 'there is no note' }];
    expect(await choose(say('Error: there is no note alpha'), words)).toEqual(words);
    expect(await choose(say('Note: there is no note alpha'), words)).not.toEqual(words);
  });

  it('leaves a draft as it is that is commented out, does not pass on its answers, or asserts nothing', async () => {
    const whole = [{ toolResultEquals: { id: 'alpha' } }];
    expect(await choose(show({ id: 'alpha' }), whole, { isCommentedOut: true })).toEqual(whole);
    expect(await choose(show({ id: 'b8' }), whole)).toEqual(whole);
    expect(await choose([say('one'), say('other')], [])).toEqual([]);
  });
});
