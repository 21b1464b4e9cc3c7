import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../base/logger.ts';
import { clipText } from '../../base/text.ts';
import { linkPage } from '../../base/version.ts';
import { findProgram } from '../programs.ts';
import { spawnProgram } from '../spawn.ts';

/** A setting of the kernel that can forbid users to make namespaces. */
interface Setting {
  name: string;
  forbids: (value: string) => boolean;
  /** The value that allows it, which is the default of the kernel. */
  allowed: string;
}

const settings: readonly Setting[] = [
  // Ubuntu from 23.10 on
  { name: 'kernel.apparmor_restrict_unprivileged_userns', forbids: (value) => value !== '0', allowed: '0' },
  // Debian, and distributions that follow it
  { name: 'kernel.unprivileged_userns_clone', forbids: (value) => value === '0', allowed: '1' },
];

const stepTimeoutMs = 30_000;

/**
 * Lets users make namespaces on a hosted Linux runner of GitHub, as `sudo sysctl -w` in a step of the workflow would. Such a machine serves
 * one job and allows sudo without a password; any other machine stays as it is. Warns if the sandbox cannot be enabled, and never throws.
 */
export async function enableNamespaces({
  environment,
  logger,
  root = '/proc/sys',
}: {
  environment: NodeJS.ProcessEnv;
  logger: Logger;
  /** The directory of the settings. */
  root?: string;
}): Promise<void> {
  if (process.platform !== 'linux' || environment['RUNNER_ENVIRONMENT'] !== 'github-hosted') {
    logger.info('`enable-sandbox` changes nothing: this is not a hosted Linux runner of GitHub.');
    return;
  }
  for (const setting of findForbidding(root)) {
    const assignment = `${setting.name}=${setting.allowed}`;
    const why = await setWithSudo(assignment, environment);
    const isAllowed = !findForbidding(root).includes(setting);
    if (isAllowed) {
      logger.info(
        `\`enable-sandbox\` ran \`sudo sysctl -w ${assignment}\`: this runner forbids users to make namespaces, which the sandbox needs.`,
      );
      continue;
    }
    const reason = why ?? `it ended without an error, and the setting is unchanged`;
    logger.warning(
      `\`enable-sandbox\` could not run \`sudo sysctl -w ${assignment}\`: ${reason}. The server may run without a sandbox; see ${linkPage('hardening.md')}`,
    );
    return;
  }
}

function findForbidding(root: string): Setting[] {
  return settings.filter(({ name, forbids }) => {
    const value = readSetting(join(root, ...name.split('.')));
    return value !== null && forbids(value);
  });
}

/** Returns null for a setting that this kernel does not have. */
function readSetting(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null;
  }
}

/** Returns the reason if it fails, else null. */
async function setWithSudo(assignment: string, environment: NodeJS.ProcessEnv): Promise<string | null> {
  const sudo = findProgram('sudo', { path: environment['PATH'] });
  if (sudo === null) return 'no directory of PATH has sudo';
  const child = spawnProgram(sudo, ['--non-interactive', 'sysctl', '-w', assignment], {
    cwd: '/',
    env: { PATH: environment['PATH'] },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: stepTimeoutMs,
    killSignal: 'SIGKILL',
  });
  let text = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    text += String(chunk);
  });
  return await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => {
      const line = clipText(text.trim().split('\n', 1)[0] ?? '', 200);
      resolve(code === 0 ? null : line || `it ended with ${signal ?? `exit code ${code}`}`);
    });
  });
}
