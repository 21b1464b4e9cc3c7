import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Secret } from '../../src/base/redaction.ts';
import { systemClock } from '../../src/base/time.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { CaseOutcome } from '../../src/engine/outcome.ts';
import type { Target } from '../../src/mcp/session.ts';
import type { Assertion } from '../../src/checks/assertion.ts';
import type { ClientOffer } from '../../src/model/client-abilities.ts';
import type { Step } from '../../src/cases/step.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { createAskingServer } from '../support/servers/asking-server.ts';
import { type FixtureMcpServer, startFixtureMcpServer } from '../support/servers/fixture-mcp-server.ts';

let server: FixtureMcpServer;

beforeAll(async () => {
  server = await startFixtureMcpServer({}, { era: 'both', create: createAskingServer });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

async function run(steps: Step[], client: ClientOffer, protocol: Target['protocol'] = 'legacy'): Promise<CaseOutcome> {
  const target: Target = { url: server.url, serverName: 'asking', protocol };
  const testCase = createCase(steps, { advancedConfig: { client } });
  return await runCase(testCase, target, { clock: systemClock, timeoutMs: 20_000 });
}

const ask = (needs: string[], manner = 'input') => callStep('ask', { needs, manner });
const contains = (needle: string): Step => assertStep({ type: 'toolResultContains', needle });
const ada = { accept: { name: 'Ada' } };

describe('a call that asks in vain and answers all the same', () => {
  it.each([
    ['right', 'passed'],
    ['wrong', 'failed'],
  ])('judges a %s answer of a call that asked for roots in vain', async (needle, result) => {
    const outcome = await run([ask(['roots'], 'softly'), contains(needle === 'right' ? 'refused' : 'bad')], {});
    expect(outcome).toMatchObject({ status: 'completed', result });
    if (result === 'passed') return;
    expect(outcome.error).toContain('does not contain "bad"');
    expect(outcome.error).toContain(
      'The server asked for roots, which the case does not offer. If the answer depends on it',
    );
  });
});

describe.each(['legacy', 'modern'] as const)('a server of the %s era that asks its client', (era) => {
  it('gets the answers of the script, in their order', async () => {
    const elicitation: ClientOffer['elicitation'] = [ada, 'decline', { cancel: true }];
    const offer: ClientOffer = { elicitation, sampling: [{ text: 'Short.' }], roots: ['file:///work'] };
    const needs = ['elicitation', 'elicitation', 'sampling', 'elicitation', 'roots'];
    const outcome = await run([ask(needs), contains('"cancel"')], offer, era);
    expect(outcome.error).toBeNull();
    expect(outcome.result).toBe('passed');
    const text = JSON.stringify(outcome.trace.messages.at(-1));
    for (const part of ['accept', 'Ada', 'blue', 'decline', 'cancel', 'Short.', 'file:///work']) {
      expect(text).toContain(part);
    }
  });

  it('gets answers with the values of the iteration', async () => {
    const client: ClientOffer = {
      elicitation: [{ accept: { name: 'Ada {{uuid}}' } }],
      sampling: [{ text: '{{iteration}}!' }],
    };
    const steps = (needle: string) => [ask(['elicitation', 'sampling']), contains('Ada c0ffee'), contains(needle)];
    const target: Target = { url: server.url, serverName: 'asking', protocol: era };
    const facts = { iteration: 7, uuid: 'c0ffee', variables: new Map<string, Secret>() };
    const runFilled = async (needle: string) => {
      const testCase = createCase(steps(needle), { advancedConfig: { client, placeholders: true } });
      return await runCase(testCase, target, { clock: systemClock, timeoutMs: 20_000, facts });
    };
    expect((await runFilled('7!')).result).toBe('passed');
    expect((await runFilled('8!')).result).toBe('failed');
  });

  describe('and gets answers with what a step captured', () => {
    const capture: Step = { ...callStep('sum', { a: 2, b: 3 }), id: 'sum', capture: { sum: '/content/0/text' } };
    const client: ClientOffer = {
      elicitation: [{ accept: { name: 'Number {{sum}}' }, when: { message: 'Who' } }],
      sampling: [{ text: 'It is {{sum}}.' }],
      roots: ['file:///notes/{{sum}}'],
    };
    const runFilled = async (steps: Step[], offer = client) => {
      const target: Target = { url: server.url, serverName: 'asking', protocol: era };
      const facts = { iteration: 1, uuid: 'c0ffee', variables: new Map<string, Secret>() };
      const testCase = createCase(steps, { advancedConfig: { client: offer, placeholders: true } });
      return await runCase(testCase, target, { clock: systemClock, timeoutMs: 20_000, facts });
    };
    const askAll = ask(['elicitation', 'sampling', 'roots']);

    it('before it asks', async () => {
      const parts = ['Number 5', 'It is 5.', 'file:///notes/5'].map((part, index) => ({
        ...contains(part),
        id: `${index}`,
      }));
      expect(await runFilled([capture, askAll, ...parts])).toMatchObject({ error: null, result: 'passed' });
      expect((await runFilled([capture, askAll, contains('Number 6')])).result).toBe('failed');
    });

    it('but has no result where nothing is captured yet', async () => {
      for (const need of ['elicitation', 'sampling', 'roots']) {
        const plain: ClientOffer = { ...client, elicitation: [{ accept: { name: '{{sum}}' } }] };
        const { result, error } = await runFilled([ask([need]), capture], plain);
        expect(result).toBeNull();
        expect(error).toMatch(
          new RegExp(`^The request for ${need}.* has no answer: {{sum}} has no value yet: the step that captures it`),
        );
      }
    });

    it('but not one whose condition has no value yet', async () => {
      const elicitation: ClientOffer['elicitation'] = ['decline', { ...ada, when: { message: 'Who are you{{mark}}' } }];
      const captured = (name: string): Step => ({ ...capture, capture: { [name]: '/content' } });
      expect(
        (await runFilled([captured('other'), ask(['elicitation']), contains('decline')], { elicitation })).result,
      ).toBe('passed');
    });

    it('but has no result where a form takes no such value', async () => {
      const whole: Step = { ...capture, capture: { sum: '/content/0' } };
      const elicitation: ClientOffer['elicitation'] = [{ accept: { name: '{{sum}}' } }];
      const { result, error } = await runFilled([whole, ask(['elicitation'])], { elicitation });
      expect(result).toBeNull();
      expect(error).toContain('its field `name` would be {"type":"text","text":"5"}, and a form takes texts');
    });
  });

  it('gets the answer whose condition fits, however often it asks', async () => {
    const elicitation: ClientOffer['elicitation'] = [
      'cancel',
      { ...ada, when: { message: 'Who', schema: ['name'] } },
      { accept: true, when: { pattern: '^Log in' } },
    ];
    const outcome = await run([ask(['elicitation', 'url', 'elicitation'])], { elicitation }, era);
    expect(outcome.result).toBe('passed');
    expect(outcome.usedAnswers.map(({ index }) => index)).toEqual([1, 2, 1]);
  });

  it('leaves the iteration without a result where no answer is left', async () => {
    const outcome = await run([ask(['elicitation', 'elicitation']), contains('x')], { elicitation: [ada] }, era);
    expect(outcome).toMatchObject({
      status: 'failed',
      result: null,
      error:
        'The server asked for elicitation (fields: name, colour): "Who are you?", and its only answer is used or does not fit. Add an answer to `client.elicitation`, such as `{ accept: { name: … } }`.',
    });
    expect(outcome.steps.map(({ status }) => status)).toEqual(['skipped', 'skipped']);
  });

  it('refuses a form where a URL is to be opened', async () => {
    const outcome = await run([ask(['url'])], { elicitation: [ada] }, era);
    expect(outcome.result).toBeNull();
    expect(outcome.error).toContain('open a URL');
  });

  it('answers sampling with images and calls of tools', async () => {
    const sampling: ClientOffer['sampling'] = [{ image: 'aGk=', mimeType: 'image/png' }];
    const outcome = await run([ask(['sampling']), contains('image/png')], { sampling }, era);
    expect(outcome.error).toBeNull();
  });

  it.each(['elicitation', 'url', 'sampling', 'roots'])('never fails a call that needs %s', async (need) => {
    const outcome = await run([ask([need]), contains('anything')], {}, era);
    const ability = need === 'url' ? 'elicitation' : need;
    expect(outcome.result).toBeNull();
    expect(outcome.error).toContain(`ask needs ${ability}, which the case does not offer. Add \`client: { ${ability}:`);
  });

  it.each(['elicitation', 'sampling', 'roots'])(
    'never fails a call of a tool that is hidden without %s',
    async (need) => {
      const hidden = callStep(`hidden-${need}`);
      const outcome = await run([hidden], {}, era);
      expect(outcome.result).toBeNull();
      expect(outcome.error).toContain(`only to clients that offer ${need}, which the case does not`);
      const offer: ClientOffer = { elicitation: [ada], sampling: [{ text: 'x' }], roots: [] };
      expect((await run([hidden], offer, era)).result).toBe('passed');
    },
  );

  it('fails a call of a tool that no client is shown', async () => {
    const outcome = await run([callStep('nothing')], {}, era);
    expect(outcome).toMatchObject({ status: 'completed', result: 'failed' });
    expect(outcome.error).toContain('The server lists no tool "nothing"');
  });

  it('fails a case whose result is wrong, whatever it offers', async () => {
    const steps = [callStep('sum', { a: 2, b: 3 }), contains('6')];
    expect((await run(steps, {}, era)).result).toBe('failed');
    expect((await run(steps, { elicitation: [ada] }, era)).result).toBe('failed');
  });

  it('keeps a failure that came before the call that needs more', async () => {
    const failing = callStep('sum', { a: 2, b: 3 });
    const steps = [failing, { ...contains('6'), id: 'wrong' }, ask(['roots'])];
    expect((await run(steps, {}, era)).result).toBe('failed');
    const call = callStep('ask', { needs: ['elicitation'] });
    const never: Assertion = { type: 'toolNeverCalled', toolName: 'ask' };
    const outcome = await run([call, call, assertStep(never)], { elicitation: [ada] }, era);
    expect(outcome.error).toContain('toolNeverCalled');
    expect(outcome.result).toBe('failed');
  });
});

describe('requests before the steps of a case, and in earlier rounds', () => {
  const asked = assertStep({ type: 'elicitationRequested', message: 'Who' });
  const twice = assertStep({ type: 'elicitationRequested', minCount: 2 });
  const elicitation = [ada, ada, ada, ada];
  const runWith = async (steps: Step[], setup: Step[]) => {
    const target: Target = { url: server.url, serverName: 'asking', protocol: 'legacy' };
    const testCase = createCase(steps, { advancedConfig: { client: { elicitation }, setup } });
    return await runCase(testCase, target, { clock: systemClock, timeoutMs: 20_000 });
  };
  const setup = [{ ...ask(['elicitation']), id: 'setup' }];

  it('count in the setup alone', async () => {
    const inSetup = [...setup, { ...asked, id: 'asked' }];
    expect(await runWith([callStep('sum')], inSetup)).toMatchObject({ result: 'passed', error: null });
    const outcome = await runWith([callStep('sum'), asked], inSetup);
    expect(outcome).toMatchObject({
      result: 'failed',
      error: 'elicitationRequested: the server asked for elicitation with a message that contains "Who" not at all.',
    });
    expect((await runWith([ask(['elicitation']), asked], inSetup)).result).toBe('passed');
    expect((await runWith([ask(['elicitation']), twice], inSetup)).result).toBe('failed');
  });

  it('stay in the trace, each with a span of its own', async () => {
    const { trace } = await runWith([ask(['elicitation'])], setup);
    expect(trace.spans.filter(({ category }) => category === 'client').map(({ id }) => id)).toEqual([
      'elicitation_1',
      'elicitation_2',
    ]);
  });

  it('count in the last round of a repetition alone', async () => {
    const repeat = (minCount: number): Step => ({
      id: 'repeat',
      kind: 'repeat',
      steps: [{ ...ask(['elicitation', 'elicitation']), id: 'inner', kind: 'toolCall' }],
      until: { type: 'elicitationRequested', minCount },
      times: 2,
      everyMs: 1,
    });
    expect((await runWith([repeat(2)], [])).result).toBe('passed');
    const outcome = await runWith([repeat(3)], []);
    expect(outcome.result).toBe('failed');
    expect(outcome.error).toContain('After 2 rounds');
  });
});

describe('a server of the older era', () => {
  it.each(['push', 'blind'])('never fails a call that asks by %s', async (manner) => {
    for (const need of ['elicitation', 'sampling', 'roots']) {
      const outcome = await run([ask([need], manner)], {});
      expect(outcome.result).toBeNull();
      expect(outcome.error).toContain(`needs ${need}`);
      const offer: ClientOffer = { elicitation: [ada], sampling: [{ text: 'x' }], roots: ['file:///x'] };
      expect((await run([ask([need], manner)], offer)).result).toBe('passed');
    }
  });

  it('is called again once the user has accepted to open its URL', async () => {
    const logIn = callStep('log-in', { user: 'a' });
    expect((await run([logIn, contains('logged in')], { elicitation: ['accept'] })).result).toBe('passed');
    expect((await run([callStep('log-in', { user: 'b' })], { elicitation: ['decline'] })).result).toBe('failed');
    const outcome = await run([callStep('log-in', { user: 'c' })], {});
    expect(outcome.result).toBeNull();
    expect(outcome.error).toContain('needs elicitation');
  });
});
