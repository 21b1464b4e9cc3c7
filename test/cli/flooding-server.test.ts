import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseReport } from '../../src/report/json.ts';
import { runCommand } from '../support/process/command.ts';
import { createWorkspace } from '../support/workspace.ts';

const server = fileURLToPath(new URL('../support/servers/flooding-server.ts', import.meta.url));

const evals = (attack: string) => `suite: Flooded
timeout: 5s
cases:
  - title: floods
    timeout: ${attack === 'logs' ? 1 : 5}s
    steps: [{ toolCall: ${attack} }]
  - title: healthy
    steps: [{ toolCall: healthy }]
`;

/** On a slow machine the time of the case runs out first. */
const exceeded = /^The server (?:sent more than 10000 messages|caused more than 2000 requests)|^Timed out after 5 s/;

async function flood(attack: string, inputs: string[], era: string) {
  await using workspace = await createWorkspace({ 'a.yaml': evals(attack) });
  const file = join(workspace.path, 'out.txt');
  const args = ['run', '--server-command', `node ${server} ${file}`, '--server-env', `ERA=${era}`];
  const result = await runCommand([...args, '--report-dir', 'reports', '--timeout', '60s', ...inputs, 'a.yaml'], {
    cwd: workspace.path,
  });
  const report = parseReport(JSON.parse(await workspace.read('reports/report.json')));
  const memoryMiB = Math.round(Number(await workspace.read('out.txt')) / 1024);
  return { ...result, report, memoryMiB };
}

describe.runIf(process.platform === 'linux')('a server on stdio that writes without end', () => {
  it.each([
    ['requests', 'legacy', [], exceeded],
    ['requests', 'legacy', ['--isolation', 'run'], exceeded],
    ['requests', 'modern', [], exceeded],
    ['notifications', 'legacy', [], exceeded],
    ['notifications', 'modern', [], exceeded],
    ['line', 'legacy', [], /^The server was ended by SIGKILL before it answered line\.|^Timed out after 5 s/],
    // Nothing else ends it, and it takes all the time of a processor.
    ['logs', 'legacy', [], /^Timed out after 1 s/],
    ['deep', 'legacy', [], /nested deeper than 1000 levels/],
    ['deep', 'legacy', ['--isolation', 'run'], /nested deeper than 1000 levels/],
    ['deep', 'modern', [], /nested deeper than 1000 levels/],
  ] satisfies Array<[string, string, string[], RegExp]>)(
    'fails the case that calls "%s" (%s, %j), and passes the next one within 512 MiB of memory',
    async (attack, era, inputs, reason) => {
      const { exitCode, report, memoryMiB } = await flood(attack, inputs, era);
      expect(exitCode).toBe(1);
      const [flooded, healthy] = report.cases;
      expect(flooded).toMatchObject({ passed: 0, failed: 1 });
      expect(flooded?.failures[0]?.reasons[0]).toMatch(reason);
      expect(healthy).toMatchObject({ passed: 1, failed: 0 });
      expect(memoryMiB).toBeGreaterThan(0);
      expect(memoryMiB).toBeLessThan(512);
    },
  );
});
