// Writes what `mcp-eval-ci hosts` says about the three servers into docs/hosts.md, with the versions of the servers and the date.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRecord, tryParseJson } from '../../../src/base/json.ts';
import { runProgram } from '../../gates/process.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const [start, end] = ['<!-- servers:start -->', '<!-- servers:end -->'];

export async function writeMatrix(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'matrix-'));
  try {
    const describeServer = (name: string, ...args: string[]) => ({
      command: process.execPath,
      args: [join(root, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`), ...args],
      env: { MEMORY_FILE_PATH: join(directory, 'memory.jsonl') },
    });
    const mcpServers = {
      everything: describeServer('everything'),
      filesystem: describeServer('filesystem', directory),
      memory: describeServer('memory'),
    };
    const config = join(directory, 'mcp.json');
    await writeFile(config, JSON.stringify({ mcpServers }));
    const args = ['hosts', '--mcp-config', config, '--format', 'markdown'];
    const { code, stdout, stderr } = await runProgram([process.execPath, join(root, 'src/cli/main.ts'), ...args], {
      cwd: directory,
    });
    if (code !== 0) throw new Error(`The command ended with exit code ${code}: ${stderr}`);
    // The page has its own headings, and one section for each host would be long.
    const [, hosts = '', tools = ''] = stdout.split(/^## .*\n/m);
    const versions = await Promise.all(Object.keys(mcpServers).map(readVersion));
    const measured = `Read on ${new Date().toISOString().slice(0, 10)} from ${versions.join(', ')}.`;
    await writePage(`${measured}\n\n${hosts.trim()}\n\n${tools.trim()}`);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function readVersion(name: string): Promise<string> {
  const path = join(root, `node_modules/@modelcontextprotocol/server-${name}/package.json`);
  const found = tryParseJson(await readFile(path, 'utf8'));
  return `server-${name} ${isRecord(found) ? String(found['version']) : ''}`;
}

async function writePage(content: string): Promise<void> {
  const path = join(root, 'docs/hosts.md');
  const page = await readFile(path, 'utf8');
  const [before, rest] = page.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`${path} has no ${start} … ${end} block.`);
  await writeFile(path, `${before}${start}\n\n${content}\n\n${end}${after}`);
}
