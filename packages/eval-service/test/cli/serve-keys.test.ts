import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logger.ts';
import { createRedactor } from '../../../../src/base/redaction.ts';
import { readKeyFile } from '../../src/cli/serve-keys.ts';
import { createApiCaller } from '../../../../test/support/service/api-caller.ts';
import { runCommand } from '../../../../test/support/process/command.ts';
import { createWorkspace } from '../../../../test/support/workspace.ts';

const ann = 'sk_ann_4f9a1c7be20d8356';
const bob = 'sk_bob_90d1e77a30c4b2f8';
const eve = 'sk_eve_5b7720ce91d3aa46';

const file = `keys:
  - key: ${ann}
    user: ann
    name: Ann Example
    email: ann@example.com
    organization: acme
    role: admin
  - { key: ${bob}, user: bob, organization: acme, role: guest }
  - { key: ${eve}, user: eve, organization: other, role: admin }
`;

/** Reads a file of keys; gives the keys or the message, and the warnings. */
async function read(text: string, { mode = 0o600 } = {}) {
  await using workspace = await createWorkspace({ 'keys.yaml': text });
  await chmod(join(workspace.path, 'keys.yaml'), mode);
  const warnings: string[] = [];
  const redactor = createRedactor();
  const logger = { ...silentLogger, warning: (message: string) => warnings.push(message) };
  const clean = (message: string) => redactor.redact(message.replaceAll(`${workspace.path}/`, ''));
  try {
    const keys = await readKeyFile(join(workspace.path, 'keys.yaml'), { redactor, logger });
    return { keys, warnings: warnings.map(clean), clean };
  } catch (error) {
    return { message: clean(error instanceof Error ? error.message : ''), warnings, clean };
  }
}

describe('a file of keys', () => {
  it('gives each key its user, organization and role', async () => {
    const { keys = [], warnings, clean } = await read(file);
    expect(keys.map(({ secret }) => secret.reveal())).toEqual([ann, bob, eve]);
    expect(keys.map(({ caller }) => caller)).toEqual([
      {
        keyId: expect.stringMatching(/^key_[\da-f]{16}$/),
        user: { id: 'ann', email: 'ann@example.com', name: 'Ann Example' },
        organizationId: 'acme',
        role: 'admin',
      },
      expect.objectContaining({ user: { id: 'bob', email: 'bob@localhost', name: 'bob' }, role: 'guest' }),
      expect.objectContaining({ organizationId: 'other' }),
    ]);
    expect(new Set(keys.map(({ caller }) => caller.keyId)).size).toBe(3);
    expect(warnings).toEqual([]);
    expect(clean(`${ann} ${eve}`)).not.toContain('sk_');
  });

  it('may be JSON', async () => {
    const { keys } = await read(JSON.stringify({ keys: [{ key: ann, user: 'a', organization: 'b', role: 'member' }] }));
    expect(keys).toHaveLength(1);
  });

  it.skipIf(process.platform === 'win32')('draws a warning where other users can read it', async () => {
    expect((await read(file, { mode: 0o644 })).warnings).toEqual([
      'Other users of this machine can read the keys in keys.yaml. Run `chmod 600 keys.yaml`.',
    ]);
    expect((await read(file, { mode: 0o640 })).warnings).toHaveLength(1);
  });

  it.each([
    ['an empty file', '', 'keys.yaml:1:1: The file is empty; write a list `keys` (empty-file)'],
    ['no keys', 'keys: []', 'keys.yaml:1:7: `keys` is empty; write at least one key (no-keys)'],
    ['an unknown role', file.replace('guest', 'quest'), 'did you mean `guest`?'],
    ['an unknown field', file.replace('email:', 'mail:'), 'keys.yaml:5:5: Unknown key `mail`; did you mean `email`?'],
    ['no organization', file.replace('    organization: acme\n', ''), 'The key `organization` is missing'],
    ['no key', file.replace(`key: ${ann}`, 'key:'), 'keys.yaml:2:5: The key `key` is missing'],
    ['an entry without key', file.replace(`key: ${bob}, `, ''), 'The key `key` is missing'],
    ['a key twice', file.replace(bob, ann), 'keys.yaml:8:12: The key is that of line 2; make another (bad-key)'],
    ['a short key', file.replace(ann, 'sk_short'), 'keys.yaml:2:10: `key` must have at least 16 characters (bad-key)'],
    ['a key with blanks', file.replace(ann, 'two words of a key'), '`key` may have letters, digits'],
  ])('is refused with %s', async (_what, text, message) => {
    const result = await read(text);
    expect(result.message).toContain(message);
  });

  it.each([
    ['a list of bare keys', `keys:\n  - ${ann}\n`],
    ['keys in no list', `keys: ${ann}\n`],
    ['a number', `keys:\n  - { key: 123456789012345678, user: a, organization: b, role: admin }\n`],
    ['a key twice', file.replace(bob, ann)],
  ])('is refused without a word of a key: %s', async (_what, text) => {
    const { message } = await read(text);
    expect(message).toMatch(/keys\.yaml:\d+:\d+: /);
    for (const secret of [ann, '4f9a1c7be20d8356', '123456789012345']) expect(message).not.toContain(secret);
  });
});

describe('mcp-eval-ci serve --keys', () => {
  it('answers each user by role and organization, and prints no key', async () => {
    await using workspace = await createWorkspace({ 'keys.yaml': file });
    const stop = new AbortController();
    const statuses: number[] = [];
    const ask = async ({ baseUrl, project }: { baseUrl: string; project: string }) => {
      for (const key of [ann, bob, eve, 'sk_nobody_00000000']) {
        const { status } = await createApiCaller(baseUrl, key).patch(`/projects/${project}`, { description: 'Ours' });
        statuses.push(status);
      }
    };
    let asking: Promise<void> | undefined;
    const result = await runCommand(['serve', '--keys', 'keys.yaml'], {
      cwd: workspace.path,
      stop: stop.signal,
      onOutput: (output) => {
        const ready = output.split('\n').find((line) => line.startsWith('{') && line.endsWith('}'));
        if (ready !== undefined) asking ??= ask(JSON.parse(ready)).finally(() => stop.abort());
        return undefined;
      },
    });
    await asking;
    expect(statuses).toEqual([200, 403, 404, 401]);
    expect(Object.keys(JSON.parse(result.stdout))).toEqual(['baseUrl', 'project']);
    expect(result.exitCode).toBe(0);
    expect(result.stdout + result.stderr).not.toContain('sk_');
  });

  it('excludes --api-key', async () => {
    await using workspace = await createWorkspace({ 'keys.yaml': file });
    const args = ['serve', '--keys', 'keys.yaml', '--api-key', 'sk_other'];
    const result = await runCommand(args, { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
    expect(result.stderr).toContain("cannot be used with option '--api-key <key>'");
  });
});
