import { writeFile } from 'node:fs/promises';
import { ConfigurationError, readErrorCode } from '../base/errors.ts';

/** Writes to a new file, or to stdout. @throws {ConfigurationError} if the file exists and `force` is not set */
export async function writeOut(text: string, { out, force = false }: { out?: string; force?: boolean }): Promise<void> {
  if (out === undefined) {
    process.stdout.write(text);
    return;
  }
  await writeFile(out, text, { flag: force ? 'w' : 'wx' }).catch((error: unknown) => {
    const message =
      readErrorCode(error) === 'EEXIST'
        ? `${out} is there already; --force replaces it`
        : `${out} cannot be written (${readErrorCode(error) ?? 'unknown error'}); choose another path`;
    throw new ConfigurationError([{ input: 'out', code: 'cannot-write', message }], { cause: error });
  });
}
