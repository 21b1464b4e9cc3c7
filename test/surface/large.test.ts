import { describe, expect, it } from 'vitest';
import type { Surface } from '../../src/model/surface.ts';
import { compareSurfaces } from '../../src/surface/compare-surfaces.ts';
import { createCoverage } from '../../src/surface/measure-coverage.ts';
import { lintSurface } from '../../src/surface/lint.ts';
import { normalizeSurface } from '../../src/surface/normalize.ts';
import { indexLines, renderSurfaceFile } from '../../src/surface/file.ts';
import { reportSurfaces } from '../../src/surface/report.ts';
import { createWork, maxSteps } from '../../src/surface/schema/work.ts';

// Without a limit each of these would take minutes, or until the end of days.

const empty = { capabilities: {}, instructions: null, tools: [], prompts: [], resources: [], resourceTemplates: [] };
const createSurface = (tools: readonly object[]): Surface => normalizeSurface({ ...empty, tools });
const createTool = (schema: object, name = 'search') => ({ name, inputSchema: { type: 'object', ...schema } });
const many = <T>(count: number, create: (index: number) => T) => Array.from({ length: count }, (_, at) => create(at));

/** The changes between two surfaces, and how many steps it took to find them. */
function compare(before: readonly object[], after: readonly object[], steps = maxSteps) {
  const work = createWork(steps);
  const changes = compareSurfaces(createSurface(before), createSurface(after), work);
  return { ids: changes.map(({ severity, id }) => `${severity} ${id}`), steps: steps - work.left };
}

describe('a large surface', () => {
  it('with an enum of many values is compared once for each of them', () => {
    const listed = (last: string) => createTool({ properties: { a: { enum: [...many(100_000, String), last] } } });
    const { ids, steps } = compare([listed('x')], [listed('y')]);
    expect(ids).toEqual(['breaking tool.search.input.a.valuesChanged']);
    expect(steps).toBeLessThan(20 * 100_000);
  });

  it('with a value for each of many alternatives is compared once for each of them', () => {
    const listed = (last: string) => {
      const oneOf = [...many(1000, (index) => ({ const: index })), { const: last }];
      return createTool({ properties: { a: { oneOf } } });
    };
    const { ids, steps } = compare([listed('x')], [listed('y')]);
    expect(ids[0]).toMatch(/^breaking tool\.search\.input\.a\./);
    expect(steps).toBeLessThan(100 * 1000);
  });

  it('with many tools has the line of each in its file', () => {
    const tools = many(20_000, (index) => createTool({}, `tool-${index}`));
    const configurations = { default: createSurface(tools) };
    const text = renderSurfaceFile({ version: 1, configurations });
    const after = createSurface(tools.map((tool) => ({ ...tool, description: 'Changed.' })));
    const report = reportSurfaces(
      { default: after },
      { against: 'surface.json', configurations, lines: indexLines(text) },
    );
    const changes = report.configurations[0]?.changes ?? [];
    expect(changes).toHaveLength(20_000);
    const lines = text.split('\n');
    for (const { id, location } of changes.filter((_, index) => index % 1000 === 0)) {
      const name = /^tool\.([\w-]+)\.descriptionChanged$/.exec(id)?.[1];
      expect(lines[(location?.line ?? 0) - 1]).toContain(`"name": "${name}"`);
    }
  });

  it('that takes more steps than the limit has a breaking change that says so, after those that were found', () => {
    const alternative = (index: number, last: string) => ({
      type: 'object',
      properties: Object.fromEntries(many(50, (at) => [`p${at}`, { type: 'string', maxLength: index + at }])),
      required: [last],
    });
    const listed = (last: string) =>
      createTool({ properties: { a: { anyOf: many(90, (index) => alternative(index, `${last}${index}`)) } } }, 'wide');
    const { ids } = compare([createTool({}, 'gone'), listed('x')], [listed('y')], 100_000);
    expect(ids).toEqual(['breaking tool.gone.removed', 'breaking server.tooLarge']);
  });

  it('whose alternatives refer to each other is read in as many steps as it has schemas', () => {
    const names = many(60, (index) => `d${index}`);
    const anyOf = names.map((name) => ({ $ref: `#/$defs/${name}` }));
    const $defs = Object.fromEntries(names.map((name) => [name, { anyOf }]));
    const tool = createTool({ properties: { a: { anyOf } }, $defs });
    const silent = createSurface([tool]);
    expect(lintSurface(silent).map(({ rule }) => rule)).toContain('parameter-undescribed');
    const described = createSurface([
      {
        ...tool,
        inputSchema: { ...tool.inputSchema, $defs: { ...$defs, d59: { enum: ['x'], description: 'Text.' } } },
      },
    ]);
    expect(lintSurface(described).map(({ rule }) => rule)).not.toContain('parameter-undescribed');
    const values = createCoverage([described])
      .listItems()
      .filter(({ kind }) => kind === 'values');
    expect(values.map(({ path }) => path)).toEqual([['search', 'a', '"x"']]);
  });
});
