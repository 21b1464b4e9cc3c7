import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  describeMore,
  readArguments,
  readDescription,
  readInstructions,
  readResults,
} from '../../bench/hosts/facts.ts';
import { countWords } from '../../bench/hosts/probe.ts';
import { listReceived, runHost } from '../../bench/hosts/run-host.ts';
import { callAll, createSeen } from '../../bench/hosts/scripts.ts';
import type { HostStarter } from '../../src/host-drivers/driver.ts';

const script = fileURLToPath(new URL('scripted-host.ts', import.meta.url));

const createStarter = (kind: string): HostStarter => ({
  id: 'scripted',
  program: 'node',
  start: ({ provider, servers }) => ({
    files: new Map(),
    args: [script, provider.url, kind, ...servers[0]!.command],
    env: {},
  }),
});

async function measure(kind: string) {
  const seen = createSeen();
  const observation = await runHost({
    starter: createStarter(kind),
    program: [process.execPath],
    model: 'probe-model',
    surface: 'plain',
    script: callAll(seen),
    limitMs: 60_000,
  });
  const isReceived = (tool: string) =>
    listReceived(observation, 'tools/call').some(({ message }) => JSON.stringify(message).includes(`"name":"${tool}"`));
  return { seen, observation, isReceived, results: readResults(seen, isReceived) };
}

describe('a scripted host', () => {
  it('is measured through its requests and its calls', async () => {
    const { seen, observation, isReceived, results } = await measure('plain');
    expect(observation.ran).toMatchObject({ code: 0, hung: false, stderr: '' });
    expect(readInstructions(seen)).toEqual({ value: { shown: 'system-prompt', limit: null } });
    expect(readDescription(seen, countWords('d', 12_000))).toEqual({ value: { limit: 1000 } });
    expect(readArguments(seen, isReceived)).toEqual({ value: 'passed-on' });
    expect(Object.fromEntries(results)).toMatchObject({
      'results.structured': { value: 'both' },
      'results.structuredAlone': { value: 'json' },
      'results.error': { value: 'unmarked' },
      'results.image': { value: 'lost' },
      'results.forUser': { value: 'shown' },
    });
    expect(describeMore(seen, true)).toMatchObject({ 'two calls in an answer': 'at the same time' });
    const { seen: other, results: dropped } = await measure('drops-texts');
    expect(other.turns.size).toBe(seen.turns.size);
    expect(dropped.get('results.structured')).toEqual({ value: 'structured' });
  });

  it('has nothing measured if it starts no server', async () => {
    const seen = createSeen();
    const { ran, log } = await runHost({
      starter: { ...createStarter('plain'), start: () => ({ files: new Map(), args: ['--version'], env: {} }) },
      program: [process.execPath],
      model: 'probe-model',
      surface: 'plain',
      script: callAll(seen),
      limitMs: 60_000,
    });
    expect(ran.stdout).toMatch(/^v\d+/);
    expect(log).toEqual([]);
    expect(readInstructions(seen)).toEqual({ missing: 'No request reached the provider.' });
  });
});
