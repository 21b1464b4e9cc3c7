import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/time.ts';
import { runCase } from '../../../src/engine/run-case.ts';
import type { Target } from '../../../src/mcp/session.ts';
import type { Ability, ClientOffer } from '../../../src/model/client-abilities.ts';
import { assertStep, callStep, createCase } from '../../../test/support/factories/case-factory.ts';
import { openTunnelPath } from '../../../test/support/network/tunnel-path.ts';
import { createAskingServer, type Manner, type Need } from '../../../test/support/servers/asking-server.ts';
import { startFixtureMcpServer } from '../../../test/support/servers/fixture-mcp-server.ts';
import { openTestServer } from '../../../test/support/servers/running-server.ts';

const eras = ['legacy', 'modern'] as const;
const ways = ['directly', 'through the bridge', 'through bridge and tunnel'] as const;

const resources: AsyncDisposable[] = [];
/** By way and era. A target keeps the lists that it was given, as in a run. */
const targets = new Map<string, Target>();

beforeAll(async () => {
  for (const era of eras) {
    const direct = await startFixtureMcpServer({}, { era, create: createAskingServer });
    const value = era === 'legacy' ? '2025-11-25' : '2026-07-28';
    const bridge = await openTestServer({
      env: { ASKS: 'yes', ...(era === 'modern' && { ERA: 'modern' }) },
      protocol: { value, source: 'test' },
    });
    const tunnel = await openTunnelPath(bridge.url);
    resources.push(direct, bridge, tunnel);
    for (const [way, url] of [
      [ways[0], direct.url],
      [ways[1], bridge.url],
      [ways[2], tunnel.publicUrl],
    ] as const) {
      targets.set(`${way} ${era}`, { url, serverName: 'asking', protocol: era });
    }
  }
});

afterAll(async () => {
  for (const resource of resources.toReversed()) await resource[Symbol.asyncDispose]();
});

const needs = fc.constantFrom<Need>('elicitation', 'url', 'sampling', 'roots');
const abilityOf = (need: Need): Ability => (need === 'url' ? 'elicitation' : need);

/** A tool that asks, in a task or by tasks of its client, too; one that hides, or one that asks for nothing. */
const calls = fc.oneof(
  fc.record({
    tool: fc.constant('ask'),
    needs: fc.array(needs, { maxLength: 3 }),
    manner: fc.constantFrom<Manner>('input', 'push', 'blind', 'task'),
  }),
  fc.record({
    tool: fc.constant('ask-in-task'),
    needs: fc.array(needs, { maxLength: 3 }),
    manner: fc.constant<Manner>('input'),
  }),
  fc.record({
    tool: fc.constantFrom('hidden-elicitation', 'hidden-sampling', 'hidden-roots'),
    needs: fc.constant<Need[]>([]),
    manner: fc.constant<Manner>('input'),
  }),
  fc.record({ tool: fc.constant('sum'), needs: fc.constant<Need[]>([]), manner: fc.constant<Manner>('input') }),
);

const scripts = fc.record({
  calls: fc.array(calls, { minLength: 1, maxLength: 3 }),
  offered: fc.uniqueArray(fc.constantFrom<Ability>('elicitation', 'sampling', 'roots')),
});
type Script = typeof scripts extends fc.Arbitrary<infer Value> ? Value : never;

const all: Ability[] = ['elicitation', 'sampling', 'roots'];
const task = <Tool extends string>(manner: Manner, tool: Tool, asked: Need[]) => ({
  calls: [{ tool, needs: asked, manner }],
});
/** Few draws have every way of tasks among them. */
const withTasks = [
  { ...task('input', 'ask-in-task', ['elicitation', 'url', 'sampling', 'roots']), offered: all },
  { ...task('task', 'ask', ['elicitation', 'sampling']), offered: all },
  { ...task('input', 'ask-in-task', ['sampling']), offered: all.slice(0, 1) },
  { ...task('task', 'ask', ['elicitation']), offered: all.slice(1) },
] satisfies Script[];

/** Enough answers for whatever is asked, of the abilities that are offered. */
function offer({ offered }: Script): ClientOffer {
  return {
    ...(offered.includes('elicitation') && {
      elicitation: [
        { accept: { name: 'Ada' }, when: { schema: ['name'] } },
        { accept: true, when: { message: 'Log in' } },
      ],
    }),
    ...(offered.includes('sampling') && { sampling: [{ text: 'Short.', when: { message: 'notes' } }] }),
    ...(offered.includes('roots') && { roots: ['file:///work'] }),
  };
}

function listNeeded({ calls }: Script): Ability[] {
  return calls.flatMap(({ tool, needs }) =>
    tool.startsWith('hidden-') ? all.filter((ability) => tool === `hidden-${ability}`) : needs.map(abilityOf),
  );
}

async function run(
  script: Script,
  { way, era, isWrong }: { way: string; era: (typeof eras)[number]; isWrong: boolean },
) {
  const target = targets.get(`${way} ${era}`);
  if (target === undefined) throw new Error(`No server ${way}.`);
  const steps = script.calls.map(({ tool, needs, manner }, index) => ({
    // Only the older era has requests of servers.
    ...callStep(tool, tool === 'sum' ? { a: 2, b: 3 } : { needs, manner: era === 'legacy' ? manner : 'input' }),
    id: `call-${index}`,
  }));
  const wrong = assertStep({ type: 'toolNeverCalled', toolName: script.calls[0]?.tool ?? '' });
  const testCase = createCase(isWrong ? [...steps, wrong] : steps, { advancedConfig: { client: offer(script) } });
  return await runCase(testCase, target, { clock: systemClock, timeoutMs: 20_000 });
}

describe.each(eras)('a case in the %s era', (era) => {
  it.each(ways)('never fails for lack of an ability, and passes where it offers what is needed, %s', async (way) => {
    const seen = { passed: 0, unscored: 0 };
    await fc.assert(
      fc.asyncProperty(scripts, async (script) => {
        const { result, error } = await run(script, { way, era, isWrong: false });
        const isOffered = listNeeded(script).every((ability) => script.offered.includes(ability));
        expect({ result, error: isOffered ? error : null }).toEqual({
          result: isOffered ? 'passed' : null,
          error: null,
        });
        if (!isOffered) expect(error).toContain('which the case does not');
        seen[isOffered ? 'passed' : 'unscored'] += 1;
      }),
      {
        numRuns: withTasks.length + (way === 'directly' || era === 'modern' ? 25 : 6),
        examples: withTasks.map((script): [Script] => [script]),
      },
    );
    expect(seen.passed).toBeGreaterThan(0);
    expect(seen.unscored).toBeGreaterThan(0);
  });

  it('still fails where everything is offered and something else is wrong', async () => {
    const script: Script = {
      calls: [{ tool: 'ask', needs: ['elicitation', 'sampling'], manner: 'input' }],
      offered: ['elicitation', 'sampling'],
    };
    expect((await run(script, { way: ways[1], era, isWrong: true })).result).toBe('failed');
  });
});

it('initializes a process that sessions share anew for a client that offers something else', async () => {
  const bridge = await openTestServer({ env: { ASKS: 'yes' }, isolation: 'run' });
  resources.push(bridge);
  const target: Target = { url: bridge.url, serverName: 'asking', protocol: 'legacy' };
  const script: Script = { calls: [{ tool: 'hidden-elicitation', needs: [], manner: 'input' }], offered: [] };
  for (const offered of [[], ['elicitation'], ['elicitation'], []] satisfies Ability[][]) {
    const testCase = createCase([callStep('hidden-elicitation')], {
      advancedConfig: { client: offer({ ...script, offered }) },
    });
    const { result } = await runCase(testCase, target, { clock: systemClock, timeoutMs: 20_000 });
    expect(result).toBe(offered.length === 0 ? null : 'passed');
  }
});
