import { statSync } from 'node:fs';

/**
 * Refuses a file of the runner that something has replaced by a named pipe: opening one waits for a reader for ever.
 *
 * @throws where the file that the variable names is there, and is no regular file
 */
export function checkCommandFile(variable: 'GITHUB_OUTPUT' | 'GITHUB_STATE'): void {
  const path = process.env[variable] ?? '';
  const found = path === '' ? undefined : statSync(path, { throwIfNoEntry: false });
  if (found?.isFIFO() === true) throw new Error(`${path} is a named pipe`);
}
