import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/base/time.ts';
import type { CaseOutcome } from '../../src/engine/outcome.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { Assertion } from '../../src/checks/assertion.ts';
import type { ClientOffer } from '../../src/model/client-abilities.ts';
import type { Step } from '../../src/cases/step.ts';
import { createEventClock } from '../support/clocks/bent-clock.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { createAbilityServer } from '../support/servers/ability-server.ts';
import {
  type FixtureMcpServer,
  type FixtureServerOptions,
  startFixtureMcpServer,
  text,
} from '../support/servers/fixture-mcp-server.ts';

interface Example {
  steps: Step[];
  client?: ClientOffer;
  green: Assertion[];
  red: Assertion;
  reason: string;
}

const contains = (needle: string): Assertion => ({ type: 'toolResultContains', needle });
const accept = (fields: Record<string, string | number>) => ({ accept: fields });
const toolUse = { toolUse: { name: 'look-up', input: {} } };

const examples: Readonly<Record<string, Example>> = {
  'a form, with defaults for what the answer leaves out': {
    steps: [callStep('register')],
    client: { elicitation: [accept({ name: 'Ada', seats: 3 })] },
    green: [
      contains('"name":"Ada"'),
      contains('"seats":3'),
      contains('"plan":"free"'),
      { type: 'elicitationRequested', message: 'Please register', schema: ['name', 'plan', 'seats'], mode: 'form' },
    ],
    red: contains('"plan":"team"'),
    reason: 'does not contain',
  },
  'a form that is declined': {
    steps: [callStep('register')],
    client: { elicitation: ['decline'] },
    green: [contains('decline')],
    red: contains('accept'),
    reason: 'does not contain "accept"',
  },
  'two forms, one after the other': {
    steps: [callStep('plan-trip')],
    client: { elicitation: [accept({ place: 'Rome' }), accept({ day: 'Monday' })] },
    green: [contains('Rome on Monday'), { type: 'elicitationRequested', message: 'When?' }],
    red: contains('Rome on Tuesday'),
    reason: 'does not contain "Rome on Tuesday"',
  },
  'a URL': {
    steps: [callStep('link-account')],
    client: { elicitation: ['accept'] },
    green: [contains('linked: accept'), { type: 'elicitationRequested', mode: 'url' }],
    red: { type: 'elicitationRequested', mode: 'form' },
    reason: 'elicitationRequested: the server asked',
  },
  'an answer of a model': {
    steps: [callStep('research')],
    client: { sampling: [{ text: 'A drink.' }] },
    green: [contains('A drink.'), { type: 'samplingRequested', message: 'What is tea?' }],
    red: { type: 'samplingRequested', message: 'What is coffee?' },
    reason: 'with a message that contains "What is coffee?" not at all',
  },
  'an answer of a model that calls a tool first': {
    steps: [callStep('research')],
    client: { sampling: [toolUse, { text: 'Tea is a drink.' }] },
    green: [contains('Tea is a drink.')],
    red: contains('no text'),
    reason: 'does not contain "no text"',
  },
  roots: {
    steps: [callStep('list-folders')],
    client: { roots: [{ uri: 'file:///notes', name: 'Notes' }] },
    green: [contains('file:///notes')],
    red: contains('file:///etc'),
    reason: 'does not contain "file:///etc"',
  },
  progress: {
    steps: [callStep('brew')],
    green: [
      { type: 'progressReported', minCount: 2, toolName: 'brew' },
      { type: 'progressReported', message: 'Cup 2' },
    ],
    red: { type: 'not', assertion: { type: 'progressReported' } },
    reason: 'progressReported',
  },
  'a log message': {
    steps: [callStep('brew')],
    green: [{ type: 'logged', contains: 'hot', level: 'warning', logger: 'kitchen' }],
    red: { type: 'not', assertion: { type: 'logged', contains: 'hot' } },
    reason: 'logged',
  },
  'a change of its tools': {
    steps: [callStep('grow')],
    green: [{ type: 'listChanged', of: 'tools' }],
    red: contains('withered'),
    reason: 'does not contain "withered"',
  },
  'input for a prompt': {
    steps: [{ id: 'letter', kind: 'getPrompt', name: 'letter', arguments: {} }],
    client: { elicitation: [accept({ to: 'Grace' })] },
    green: [{ type: 'promptContains', needle: 'Dear Grace' }],
    red: { type: 'promptContains', needle: 'Dear Ada' },
    reason: 'does not contain "Dear Ada"',
  },
  'input for a resource': {
    steps: [{ id: 'diary', kind: 'readResource', uri: 'diary://today' }],
    client: { elicitation: [accept({ word: 'tea' })] },
    green: [{ type: 'resourceEquals', value: 'Rain.' }],
    red: { type: 'resourceEquals', value: 'Locked.' },
    reason: 'is "Rain.", expected "Locked."',
  },
};

describe.each(['legacy', 'modern'] as const)('a server on the official SDK in the %s era', (era) => {
  let server: FixtureMcpServer;

  beforeAll(async () => {
    const create = () => createAbilityServer(era, () => server.notifyToolsChanged());
    server = await startFixtureMcpServer({}, { era, create });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  const run = async (steps: Step[], client: ClientOffer = {}): Promise<CaseOutcome> => {
    const target = { url: server.url, serverName: 'abilities', protocol: era };
    const testCase = createCase(steps, { advancedConfig: { client } });
    return await runCase(testCase, target, { clock: systemClock, timeoutMs: 20_000 });
  };

  it.each(Object.entries(examples))('can be tested where it asks for or reports %s', async (_, example) => {
    const { steps, client, green, red, reason } = example;
    const passed = await run([...steps, ...green.map(assertStep)], client);
    expect(passed).toMatchObject({ error: null, result: 'passed' });
    const failed = await run([...steps, assertStep(red)], client);
    expect(failed).toMatchObject({ status: 'completed', result: 'failed' });
    expect(failed.error).toContain(reason);
  });

  const asking = Object.entries(examples).filter(([, { client }]) => client !== undefined);

  it.each(asking)('has no result in a case that does not offer %s', async (_, { steps }) => {
    const { result, error } = await run(steps);
    expect(result).toBeNull();
    expect(error).toMatch(/needs (?:elicitation|sampling|roots), which the case does not offer\. Add `client: \{/);
  });
});

describe('a session whose stream the server answers late or never', () => {
  const [register] = Object.values(examples);
  const { steps, client, green } = register!;

  const runWith = async (
    guard: NonNullable<FixtureServerOptions['guard']>,
    { asks, clock = systemClock, timeoutMs = 5000 }: { asks: boolean; clock?: Clock; timeoutMs?: number },
  ): Promise<CaseOutcome> => {
    await using server = await startFixtureMcpServer(
      { silent: { call: () => text('nothing to ask') } },
      {
        era: 'legacy',
        ...(asks && { create: () => createAbilityServer('legacy', () => {}) }),
        guard,
      },
    );
    const own = asks ? [...steps, ...green.map(assertStep)] : [callStep('silent')];
    const target = { url: server.url, serverName: 'abilities', protocol: 'legacy' as const };
    const testCase = createCase(own, { advancedConfig: { client: client! } });
    return await runCase(testCase, target, { clock, timeoutMs });
  };

  // The SDK asks over that stream, and drops what it asks before there is one.
  it('waits for a late stream, so that the server gets the answers of the case', async () => {
    const guard = async ({ method }: Request) => {
      if (method === 'GET') await systemClock.sleep(200);
      return null;
    };
    // The client waits 500 ms for it, which do not pass here.
    const clock = createEventClock((delayMs) => (delayMs === 500 ? new Promise(() => {}) : undefined));
    expect(await runWith(guard, { asks: true, clock, timeoutMs: 60_000 })).toMatchObject({
      error: null,
      result: 'passed',
    });
  });

  it('runs the case without the stream, which fails only if the server asks', async () => {
    const guard = ({ method }: Request) => (method === 'GET' ? new Promise<null>(() => {}) : null);
    expect(await runWith(guard, { asks: false })).toMatchObject({ error: null, result: 'passed' });
    expect(await runWith(guard, { asks: true })).toMatchObject({ result: 'failed' });
  });
});
