import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/base/redaction.ts';
import { addCommands } from '../../src/cli/commands.ts';
import { joinSupervisor } from '../../src/supervisor/supervised.ts';

async function listCommands(...args: string[]): Promise<string[]> {
  const program = new Command('mcp-eval-ci');
  const parts = { redactor: createRedactor(), supervision: joinSupervisor(), setExitCode: () => {} };
  await addCommands(program, args, parts);
  return program.commands.map((command) => command.name());
}

describe('addCommands', () => {
  it('adds each command by its name, and none that is loaded for another name', async () => {
    const all = await listCommands();
    expect(all).toContain('run');
    for (const name of all.filter((each) => each !== 'completion')) {
      expect(await listCommands(name)).toEqual([name]);
      expect(await listCommands('help', name)).toEqual([name]);
    }
  });

  it.each(['completion', 'help', '--help', 'runn'])('adds all commands for %s', async (name) => {
    expect(await listCommands(name)).toEqual(await listCommands());
  });
});
