import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { buildChildEnvironment } from '../../src/server/environment.ts';
import { connectClient, openTestServer, stdioServerCommand } from '../support/servers/running-server.ts';

const hasBash = detectBash();

const runnerEnvironment = {
  PATH: '/usr/bin',
  HOME: '/home/runner',
  LC_ALL: 'C.UTF-8',
  RUNNER_TRACKING_ID: 'github_1',
  NODE_EXTRA_CA_CERTS: '/etc/ca.pem',
  INPUT_API_KEY: 'sk_secret',
  'INPUT_SERVER-COMMAND': 'node server.js',
  GITHUB_TOKEN: 'ghs_secret',
  GITHUB_OUTPUT: '/tmp/output',
  ACTIONS_RUNTIME_TOKEN: 'secret',
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'secret',
  MCP_API_KEY: 'secret',
  OPENAI_API_KEY: 'secret',
  HTTPS_PROXY: 'http://user:password@proxy',
  NODE_OPTIONS: '--require ./hook.cjs',
  NPM_TOKEN: 'secret',
};

describe('buildChildEnvironment', () => {
  it('keeps only the variables that a program needs to run', () => {
    expect(buildChildEnvironment(runnerEnvironment, {}, 'linux')).toEqual({
      PATH: '/usr/bin',
      HOME: '/home/runner',
      LC_ALL: 'C.UTF-8',
      RUNNER_TRACKING_ID: 'github_1',
      NODE_EXTRA_CA_CERTS: '/etc/ca.pem',
      SHLVL: '1',
    });
  });

  it("adds the user's variables, which override inherited ones", () => {
    const additions = { PATH: '/opt/bin', OPENAI_API_KEY: 'meant' };
    expect(buildChildEnvironment({ PATH: '/usr/bin', HOME: '/root' }, additions, 'linux')).toEqual({
      PATH: '/opt/bin',
      HOME: '/root',
      OPENAI_API_KEY: 'meant',
      SHLVL: '1',
    });
  });

  it('takes Windows names however they are spelled, and only on Windows', () => {
    const environment = { Path: 'C:\\bin', SystemRoot: 'C:\\Windows', Secret: 'x' };
    expect(buildChildEnvironment(environment, {}, 'win32')).toEqual({ Path: 'C:\\bin', SystemRoot: 'C:\\Windows' });
    expect(buildChildEnvironment(environment, {}, 'linux')).toEqual({ SHLVL: '1' });
  });

  it('is the environment that the server under test gets', async () => {
    const environment = { ...runnerEnvironment, PATH: process.env['PATH'], HOME: process.env['HOME'] };
    await using server = await openTestServer({ env: { GREETING: 'hello' } }, { environment });
    await using client = await connectClient(server.url);
    const names = Object.keys((await client.call('environment')) as object);
    expect(names.toSorted()).toEqual([
      'GREETING',
      'HOME',
      'LC_ALL',
      'MCP_EVAL_CI_PROCESS',
      'NODE_EXTRA_CA_CERTS',
      'PATH',
      'RUNNER_TRACKING_ID',
      'SHLVL',
    ]);
  });

  it.skipIf(!hasBash)('holds nothing that the profile of the user exports, behind bash -c', async () => {
    const home = mkdtempSync(path.join(tmpdir(), 'profile-'));
    writeFileSync(path.join(home, '.bashrc'), 'export PROFILE_SECRET=canary\n');
    const environment = { PATH: process.env['PATH'], HOME: home };
    try {
      await using server = await openTestServer({ command: `bash -c "${stdioServerCommand}; :"` }, { environment });
      await using client = await connectClient(server.url);
      const seen = await client.call('environment');
      expect(seen).toMatchObject({ HOME: home });
      expect(seen).not.toHaveProperty('PROFILE_SECRET');
    } finally {
      rmSync(home, { recursive: true });
    }
  });
});

function detectBash(): boolean {
  try {
    execFileSync('bash', ['-c', ':'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
