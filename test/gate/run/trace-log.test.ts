import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { createRedactor, Secret } from '../../../src/base/redaction.ts';
import { openIterationLog } from '../../../src/gate/run/trace-log.ts';
import { createIteration } from '../../support/factories/suite-factory.ts';
import { createWorkspace, type Workspace } from '../../support/workspace.ts';

async function openLog(workspace: Workspace) {
  const redactor = createRedactor();
  redactor.add(new Secret('hunter2-hunter2'));
  const warnings: string[] = [];
  const logger = { ...silentLogger, warning: (message: string) => void warnings.push(message) };
  const log = await openIterationLog(
    { path: join(workspace.path, 'out'), label: 'out', root: workspace.path },
    { logger, redactor },
  );
  return { log, warnings };
}

describe('openIterationLog', () => {
  it('writes each iteration once, a line each, without secrets', async () => {
    await using workspace = await createWorkspace({ 'out/iterations.jsonl': 'of an earlier gate\n' });
    const { log, warnings } = await openLog(workspace);
    const one = createIteration({ id: '1', error: 'The token "hunter2-hunter2" is wrong.' });
    await log.add('suite-a', [one, createIteration({ id: '2' })]);
    await log.add('suite-b', [one, createIteration({ id: '3' })]);
    await log[Symbol.asyncDispose]();
    const lines = (await workspace.read('out/iterations.jsonl')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line)).map(({ suiteId, id, error }) => [suiteId, id, error])).toEqual([
      ['suite-a', '1', 'The token "***" is wrong.'],
      ['suite-a', '2', null],
      ['suite-b', '3', null],
    ]);
    expect(warnings).toEqual([]);
  });

  it('warns once if it cannot write, and continues', async () => {
    await using workspace = await createWorkspace();
    await writeFile(join(workspace.path, 'out'), 'not a directory');
    const { log, warnings } = await openLog(workspace);
    await log.add('suite', [createIteration({ id: '1' })]);
    await log.add('suite', [createIteration({ id: '2' })]);
    await log[Symbol.asyncDispose]();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(
      /^Could not write out\/iterations\.jsonl to its end: ENOTDIR.*\. The verdict stands\.$/,
    );
  });

  it('creates no file without iterations', async () => {
    await using workspace = await createWorkspace();
    await mkdir(join(workspace.path, 'out'));
    const { log } = await openLog(workspace);
    await log[Symbol.asyncDispose]();
    await expect(workspace.read('out/iterations.jsonl')).rejects.toThrow('ENOENT');
  });
});
