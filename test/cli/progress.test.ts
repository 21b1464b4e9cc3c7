import { describe, expect, it } from 'vitest';
import { createRedactor, Secret } from '../../src/base/redaction.ts';
import { systemClock } from '../../src/base/time.ts';
import { createProgressDisplay } from '../../src/cli/progress.ts';

describe.each([true, false])('progress on a terminal: %s', (isTerminal) => {
  it('says nothing secret, and no foreign line, of the server', () => {
    let shown = '';
    const { listener } = createProgressDisplay({
      write: (text) => {
        shown += text;
      },
      isTerminal,
      columns: 40,
      clock: systemClock,
      redactor: createRedactor([new Secret('hunter22')]),
    });
    listener({
      kind: 'server-ready',
      name: null,
      server: {
        transport: 'stdio',
        name: 'knows hun\u0008ter22\n::error::x and hunter22',
        version: '1',
        protocolVersion: '2025-11-25',
        protocolVersions: ['2025-11-25'],
        isolation: 'process per iteration',
        sandbox: null,
      },
      durationMs: 5,
    });
    expect(shown).toContain('knows ***');
    expect(shown).not.toContain('hunter');
    expect(shown).not.toMatch(/^::/m);
  });
});
