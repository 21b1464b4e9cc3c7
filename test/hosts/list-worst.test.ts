import { describe, expect, it } from 'vitest';
import { listWorst } from '../../src/hosts/list-worst.ts';
import type { Surface } from '../../src/model/surface.ts';
import { createSurface } from './find-host.ts';

const list = (surface: Surface) => listWorst([{ name: 'notes', surface }], 3);

describe('the worst findings of hosts', () => {
  it('name a tool that a model never gets before a text that is cut, and hosts of the same kind together', () => {
    const { worst, total } = list(
      createSurface(
        [
          { name: 'search', inputSchema: { type: 'object', properties: { anything: true } } },
          { name: 'a'.repeat(61), description: 'x'.repeat(5000) },
        ],
        'y'.repeat(5000),
      ),
    );
    expect(worst).toHaveLength(3);
    expect(worst[0]).toMatch(
      /^Gemini CLI 0\.61\.0 never shows `search`, `a+`: it drops .* So does opencode 1\.18\.33\.$/,
    );
    expect(worst[1]).toMatch(/ cuts /);
    expect(total).toBeGreaterThan(3);
  });

  it('are none for a server that hosts show as it is, apart from what they do to every server', () => {
    expect(list(createSurface([{ name: 'search', outputSchema: { type: 'object' } }]))).toEqual({
      worst: [],
      total: 0,
    });
  });

  it('are at most as many as asked for, measured ones first', () => {
    const { worst } = list(createSurface([{ name: 'a'.repeat(65) }], 'Read first.'));
    expect(worst).toHaveLength(3);
    expect(worst.join('\n')).not.toContain('Cursor');
  });
});
