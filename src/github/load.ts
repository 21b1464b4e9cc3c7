import { ConfigurationError, describeError, readErrorCode } from '../base/errors.ts';
import { openInput } from '../base/files.ts';
import type { openGitHub } from './github-client.ts';

type OpenGitHub = typeof openGitHub;

let loading: Promise<OpenGitHub> | undefined;

/**
 * Loads the client. `@actions/github` reads the event file and makes agents for the proxies of the environment when it is imported, and
 * throws if it cannot. The first outcome stays: another import in a bundle would read the file again, which the server may have replaced.
 *
 * @throws {ConfigurationError} if the event file or a proxy cannot be used
 */
export async function loadGitHub({ eventPath }: { eventPath: string | null }): Promise<OpenGitHub> {
  loading ??= importClient(eventPath);
  return await loading;
}

async function importClient(eventPath: string | null): Promise<OpenGitHub> {
  try {
    if (eventPath !== null) await refusePipe(eventPath);
    return (await import('./github-client.ts')).openGitHub;
  } catch (error) {
    const message = `GitHub's client does not load with the event file and the proxies of this job: ${describeError(error)}`;
    throw new ConfigurationError([{ code: 'unusable-github-client', message }], { cause: error });
  }
}

/** Refuses an event file that is a pipe, on which the package would wait forever. It accepts a path without a file. */
async function refusePipe(path: string): Promise<void> {
  const file = await openInput(path).catch((error: unknown) => {
    if (readErrorCode(error) === 'ENOENT') return null;
    throw error;
  });
  await file?.close();
}
