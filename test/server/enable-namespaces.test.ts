import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { enableNamespaces } from '../../src/server/sandbox/enable-namespaces.ts';
import { createWorkspace } from '../support/workspace.ts';

const apparmor = 'kernel/apparmor_restrict_unprivileged_userns';

interface Runner {
  /** The settings of the kernel before. */
  settings?: Record<string, string>;
  /** The script of `sudo`; null for a machine without it. */
  sudo?: string | null;
  environment?: string;
}

/** Writes the setting that `sysctl -w` gets, as the real one does. */
const writing = 'name=${4%%=*}; printf "%s\\n" "${4#*=}" > "$ROOT/$(echo "$name" | tr . /)"';

/** Enables namespaces on a machine whose settings are files, where `sudo` is a script. */
async function enable({ settings = { [apparmor]: '1\n' }, sudo = writing, environment = 'github-hosted' }: Runner) {
  await using workspace = await createWorkspace(
    Object.fromEntries(Object.entries(settings).map(([name, value]) => [`settings/${name}`, value])),
  );
  const root = join(workspace.path, 'settings');
  const bin = join(workspace.path, 'bin');
  await mkdir(bin);
  if (sudo !== null) {
    const script = `#!/bin/sh\nROOT='${root}'\nLOG='${workspace.path}/calls'\necho "$@" >> "$LOG"\n${sudo}\n`;
    await workspace.write('bin/sudo', script);
    await chmod(join(bin, 'sudo'), 0o755);
  }
  const lines: string[] = [];
  const note = (level: string) => (message: string) => void lines.push(`${level}: ${message}`);
  await enableNamespaces({
    environment: { PATH: `${bin}:/usr/bin:/bin`, RUNNER_ENVIRONMENT: environment },
    logger: {
      debug: note('debug'),
      info: note('info'),
      warning: note('warning'),
      error: note('error'),
      group: note('group'),
    },
    root,
  });
  const after = await Promise.all(Object.keys(settings).map((name) => workspace.read(`settings/${name}`)));
  const calls = await workspace.read('calls').catch(() => '');
  return { after: after.map((text) => text.trim()), calls: calls.split('\n').filter((line) => line !== ''), lines };
}

describe.runIf(process.platform === 'linux')('enable-sandbox', () => {
  it('changes the setting of a hosted runner with sudo, and logs the reason', async () => {
    const { after, calls, lines } = await enable({});
    expect(after).toEqual(['0']);
    expect(calls).toEqual(['--non-interactive sysctl -w kernel.apparmor_restrict_unprivileged_userns=0']);
    expect(lines).toEqual([
      'info: `enable-sandbox` ran `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`: this runner forbids users to make namespaces, which the sandbox needs.',
    ]);
  });

  it('changes each setting that forbids namespaces, and no other one', async () => {
    const settings = { [apparmor]: '2\n', 'kernel/unprivileged_userns_clone': '0\n' };
    expect((await enable({ settings })).after).toEqual(['0', '1']);
    const allowing = { [apparmor]: '0\n', 'kernel/unprivileged_userns_clone': '1\n' };
    expect(await enable({ settings: allowing })).toMatchObject({ after: ['0', '1'], calls: [], lines: [] });
    expect(await enable({ settings: {} })).toMatchObject({ calls: [], lines: [] });
  });

  it.each(['self-hosted', ''])('starts no program on another machine: %j', async (environment) => {
    expect(await enable({ environment })).toEqual({
      after: ['1'],
      calls: [],
      lines: ['info: `enable-sandbox` changes nothing: this is not a hosted Linux runner of GitHub.'],
    });
  });

  it.each([
    ['sudo asks for a password', 'echo "sudo: a password is required" >&2; exit 1', 'sudo: a password is required'],
    ['sudo fails without a word', 'exit 3', 'it ended with exit code 3'],
    ['the setting stays', 'exit 0', 'it ended without an error, and the setting is unchanged'],
    ['there is no sudo', null, 'no directory of PATH has sudo'],
  ])('warns once if %s', async (_, sudo, reason) => {
    const settings = { [apparmor]: '1\n', 'kernel/unprivileged_userns_clone': '0\n' };
    const { after, lines } = await enable({ settings, sudo });
    expect(after).toEqual(['1', '0']);
    expect(lines).toEqual([
      `warning: \`enable-sandbox\` could not run \`sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\`: ${reason}. The server may run without a sandbox; see https://github.com/your-org/mcp-eval-ci/blob/v0.1.0/docs/hardening.md`,
    ]);
  });
});
