import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord, tryParseJson } from '../../src/base/json.ts';
import { runProgram } from '../gates/process.ts';

/** Installs a package of npm at a version, without its scripts, and returns the version. */
export async function installPackage(name: string, version: string, directory: string): Promise<string> {
  const args = ['install', '--prefix', directory, '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`];
  const { code, stderr } = await runProgram(['npm', ...args], { cwd: directory });
  if (code !== 0) throw new Error(`npm did not install ${name}@${version}: ${stderr.slice(-1000)}`);
  const found = tryParseJson(await readFile(join(directory, 'node_modules', name, 'package.json'), 'utf8'));
  return isRecord(found) ? String(found['version']) : version;
}
