import { describe, expect, it } from 'vitest';
import { core, z } from 'zod';

const leaf = z.object({ name: z.string() });
const tree: z.ZodType = leaf.extend({ parts: z.lazy(() => z.array(tree)) });

describe('simplifySchemas', () => {
  it('has schemas that contain themselves parse each part on its own', () => {
    const part = { name: 'part', parts: [] };
    const { parts } = z
      .object({ parts: z.array(z.unknown()) })
      .parse(tree.parse({ name: 'whole', parts: [part, part] }));
    expect(parts).toEqual([part, part]);
    expect(parts[0]).not.toBe(parts[1]);
  });

  it('replaces the search for cycles of zod, by which equal parts share one result', () => {
    const { memoizer, ...settings } = z.config();
    try {
      z.config({ ...settings, memoizer: core.memoizer() });
      const usual: z.ZodType = leaf.extend({ parts: z.lazy(() => z.array(usual)) });
      const part = { name: 'part', parts: [] };
      const { parts } = z
        .object({ parts: z.array(z.unknown()) })
        .parse(usual.parse({ name: 'whole', parts: [part, part] }));
      expect(parts[0]).toBe(parts[1]);
    } finally {
      z.config({ memoizer });
    }
  });
});
