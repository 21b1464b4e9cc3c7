import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { bundleFiles } from '../bundle-files.ts';
import { commandPath } from './bundled-command.ts';

/** Runs once before all tests, and while they are watched, again before each run. */
export async function setup(project: TestProject): Promise<void> {
  await bundle();
  project.onTestsRerun(bundle);
}

async function bundle(): Promise<void> {
  const directory = dirname(commandPath);
  await mkdir(directory, { recursive: true });
  // Without it, Node parses each file twice, once as CommonJS.
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }\n');
  await bundleFiles(fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url)), commandPath);
}
