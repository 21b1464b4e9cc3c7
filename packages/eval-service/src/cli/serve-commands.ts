import { createHash } from 'node:crypto';
import type { Logger } from '../../../../src/base/logger.ts';
import { type Redactor, Secret } from '../../../../src/base/redaction.ts';
import type { Clock } from '../../../../src/base/time.ts';
import type { CommandServers } from '../server-reach.ts';
import { anyProtocol } from '../../../../src/model/protocol.ts';
import { openServer } from '../../../../src/server/open-server.ts';
import type { RunningServer } from '../../../../src/server/running-server.ts';
import type { SandboxOptions } from '../../../../src/server/sandbox/open-sandbox.ts';
import { joinCommand } from '../../../../src/server/split-command.ts';

const shortestSecret = 6;

/** The time limit until the command of a record answers. */
const readyTimeoutMs = 60_000;

/**
 * Starts the commands of server records: in the working directory, with the small environment of every server under test and the
 * variables of the record. Each runs in a separate sandbox, in which it cannot write to the paths in `protect`. A command is checked once
 * and then started for each session. If its record changed, it is checked and started again.
 */
export function openServeCommands({
  clock,
  logger,
  redactor,
  environment,
  cwd,
  sandbox,
  protect,
}: {
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
  environment: NodeJS.ProcessEnv;
  cwd: string;
  /** `required` does not start a command that cannot be isolated. */
  sandbox: SandboxOptions['mode'];
  /** Absolute paths. */
  protect: readonly string[];
}): CommandServers {
  const opened = new Map<string, Promise<RunningServer>>();
  const stopping = new AbortController();

  const start = (words: readonly string[], env: Record<string, string>) => {
    // Shorter values are common words in logs.
    for (const value of Object.values(env)) if (value.length >= shortestSecret) redactor.add(new Secret(value));
    const options = {
      command: joinCommand(words),
      url: null,
      cwd,
      env,
      readyTimeoutMs,
      protocol: anyProtocol,
      isolation: 'iteration' as const,
      sessions: { count: null, warmProcesses: 0, isExclusive: false },
      isWitnessed: true,
      sandbox: {
        mode: sandbox,
        network: 'on' as const,
        writable: [],
        protect,
        make: { directories: [], files: [] },
      },
    };
    return openServer(options, { clock, logger, signal: stopping.signal, environment });
  };

  return {
    open: async ({ id, content }) => {
      const { command = '', args = [], env = {} } = content;
      const words = [command, ...args];
      const key = createHash('sha256')
        .update(JSON.stringify([id, words, env]))
        .digest('hex');
      const starting = opened.get(key) ?? start(words, env);
      opened.set(key, starting);
      try {
        return await (await starting).openUrl();
      } catch (error) {
        opened.delete(key);
        throw error;
      }
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort('The service is being stopped.');
      const servers = await Promise.allSettled(opened.values());
      await Promise.all(
        servers.map(async (server) => server.status === 'fulfilled' && (await server.value[Symbol.asyncDispose]())),
      );
    },
  };
}
