import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseReport } from '../../src/report/report-json.ts';
import { runCommand } from '../support/process/command.ts';
import { notePeakMemory, readPeakMemoryMiB } from '../support/process/peak-memory.ts';
import { floodingServerPath } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

/** A case for each attack, and after it one that the server answers. */
const renderEvals = (attacks: readonly Attack[]) => `suite: Flooded
timeout: 120s
cases:
${attacks
  .map(
    (attack) => `  - title: ${attack}
    timeout: ${isEndless(attack) ? 1 : 120}s
    steps: [{ toolCall: ${attack} }]
  - title: healthy after ${attack}
    steps: [{ toolCall: healthy }]
`,
  )
  .join('')}`;

/** Nothing but the time of the case ends these: lines that are no messages are skipped, as fast as they come. */
const isEndless = (attack: Attack) => attack === 'logs';

const exceeded = /^The server (?:sent more than 10000 messages|caused more than 2000 requests)/;

const timedOut = /^Timed out after 1 s/;

const reasons = {
  requests: exceeded,
  notifications: exceeded,
  line: /^The server was ended by SIGKILL before it answered line\./,
  logs: timedOut,
  deep: /nested deeper than 1000 levels/,
};

type Attack = keyof typeof reasons;

async function flood(attacks: readonly Attack[], inputs: readonly string[], era: string) {
  await using workspace = await createWorkspace({ 'a.yaml': renderEvals(attacks) });
  const peaks = join(workspace.path, 'peaks.txt');
  const args = [
    'run',
    '--sandbox',
    'off',
    '--server-command',
    `node ${floodingServerPath}`,
    '--server-env',
    `ERA=${era}`,
  ];
  const result = await runCommand([...args, '--report-dir', 'reports', '--timeout', '10m', ...inputs, 'a.yaml'], {
    cwd: workspace.path,
    env: notePeakMemory(peaks),
  });
  const report = parseReport(JSON.parse(await workspace.read('reports/report.json')));
  return { ...result, report, memoryMiB: await readPeakMemoryMiB(peaks) };
}

describe.runIf(process.platform === 'linux')('a server on stdio that writes without end', () => {
  it.each([
    [['requests', 'notifications', 'line', 'logs', 'deep'], 'legacy', []],
    [['requests', 'deep'], 'legacy', ['--isolation', 'run']],
    // Its requests are in test/engine/traffic-limits.test.ts.
    [['notifications', 'deep'], 'modern', []],
  ] satisfies Array<[Attack[], string, string[]]>)(
    'fails each of the cases that call %j (%s, %j), and passes the next one within 512 MiB of memory',
    async (attacks, era, inputs) => {
      const { exitCode, report, memoryMiB } = await flood(attacks, inputs, era);
      expect(exitCode).toBe(1);
      // The report has the failed cases first.
      expect(report.cases).toMatchObject([
        ...attacks.map((attack) => ({
          title: attack,
          passed: 0,
          failed: 1,
          failures: [{ reasons: [expect.stringMatching(reasons[attack])] }],
        })),
        ...attacks.map((attack) => ({ title: `healthy after ${attack}`, passed: 1, failed: 0 })),
      ]);
      // No process of Node has less.
      expect(memoryMiB).toBeGreaterThan(30);
      expect(memoryMiB).toBeLessThan(512);
    },
  );
});
