import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { bundleFiles } from '../bundle-files.ts';
import { actionPath, commandPath, entryDirectory } from './bundled-command.ts';

/** Runs once before all tests. In watch mode, it also runs before each run. */
export async function setup(project: TestProject): Promise<void> {
  await bundleCommand();
  project.onTestsRerun(bundleCommand);
}

export async function bundleCommand(): Promise<void> {
  await mkdir(entryDirectory, { recursive: true });
  // Without it, Node parses each file twice, once as CommonJS.
  await writeFile(`${entryDirectory}/package.json`, '{ "type": "module" }\n');
  await bundleFiles(locate('cli/main.ts'), commandPath);
  await bundleFiles(locate('action/entry.ts'), actionPath);
}

const locate = (file: string) => fileURLToPath(new URL(`../../../src/${file}`, import.meta.url));
