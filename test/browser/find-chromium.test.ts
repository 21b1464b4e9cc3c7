import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findChromium } from '../../src/browser/find-chromium.ts';
import { createWorkspace } from '../support/workspace.ts';

describe('findChromium', () => {
  it('takes the named program, or else the first with a known name in PATH', async () => {
    await using workspace = await createWorkspace();
    const directory = path.join(workspace.path, 'bin');
    await mkdir(directory);
    const [chromium, own, text] = ['chromium', 'own', 'google-chrome'].map((name) => path.join(directory, name));
    for (const file of [chromium, own, text]) await writeFile(file ?? '', '#!/bin/sh\n');
    for (const file of [chromium, own]) await chmod(file ?? '', 0o755);
    const PATH = `/nowhere${path.delimiter}${directory}`;
    expect(findChromium({ PATH })).toMatchObject({ executable: chromium, isSandboxed: true });
    expect(findChromium({ PATH, MCP_EVAL_CI_CHROMIUM: own })).toMatchObject({ executable: own });
    expect(findChromium({ PATH, MCP_EVAL_CI_CHROMIUM_SANDBOX: 'off' })).toMatchObject({ isSandboxed: false });
    expect(findChromium({ PATH, MCP_EVAL_CI_CHROMIUM: text })).toEqual({
      reason: `MCP_EVAL_CI_CHROMIUM is ${JSON.stringify(text)}, which is no program. Set it to the path of a Chromium.`,
    });
  });

  it('says how to get one where there is none', () => {
    expect(findChromium({ PATH: '/nowhere' })).toEqual({
      reason:
        'No Chromium is in PATH, and a widget needs one to render. Install Chromium or Chrome, or set MCP_EVAL_CI_CHROMIUM to its path.',
    });
  });

  it('gives the browser no secret of the job', () => {
    const found = findChromium({
      PATH: path.dirname(process.execPath),
      MCP_EVAL_CI_CHROMIUM: process.execPath,
      GITHUB_TOKEN: 'x',
    });
    expect(found).not.toHaveProperty('reason');
    expect(JSON.stringify(found)).not.toContain('GITHUB_TOKEN');
  });
});
