import type { Redactor } from '../base/redaction.ts';
import { systemClock } from '../base/time.ts';
import { hostTunnel, planTunnel } from '../gate/host-tunnel.ts';
import { listenForInterrupts } from '../gate/host-process.ts';
import { parseTunnelOptions } from '../gate/options.ts';
import { describeProgress } from '../gate/run/progress.ts';
import { createStderrLogger } from './command-logger.ts';

/** Keeps the tunnels of these options open until a signal. */
export async function keepTunnel(
  texts: Readonly<Record<string, string>>,
  { isVerbose, redactor }: { isVerbose: boolean; redactor: Redactor },
): Promise<void> {
  const { env: environment, stdout } = process;
  const logger = createStderrLogger(redactor, { isVerbose });
  const parsed = parseTunnelOptions(texts);
  const plan = await planTunnel(parsed, { cwd: process.cwd(), environment });
  const signal = listenForInterrupts(process, (exitCode) => process.exit(exitCode));
  await hostTunnel(plan, {
    clock: systemClock,
    logger,
    redactor,
    signal,
    environment,
    onProgress: (progress) => logger.info(describeProgress(progress)),
    onReady: ({ id, name }) => stdout.write(`${redactor.redact(JSON.stringify({ serverId: id, serverName: name }))}\n`),
  });
}
