import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { clipText } from '../../base/text.ts';
import { linkPage } from '../../base/version.ts';
import { findProgram } from '../programs.ts';
import { runProgram } from '../spawn.ts';

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
  try {
    const { code, signal, stderr } = await runProgram(sudo, ['--non-interactive', 'sysctl', '-w', assignment], {
      cwd: '/',
      env: { PATH: environment['PATH'] },
      timeout: stepTimeoutMs,
      killSignal: 'SIGKILL',
      maxBytes: maxOutputBytes,
    });
    const line = clipText(stderr.trim().split('\n', 1)[0] ?? '', 200);
    return code === 0 ? null : line || `it ended with ${signal ?? `exit code ${code}`}`;
  } catch (error) {
    return describeError(error);
  }
}

const maxOutputBytes = 64 * 1024;
