import { describe, expect, it } from 'vitest';
import { hostProfiles } from '../../src/hosts/catalog.ts';
import { compareHosts } from '../../src/hosts/compare-hosts.ts';
import { renderHostsMarkdown, renderHostsText } from '../../src/report/hosts.ts';
import { createSurface, findHost } from '../hosts/find-host.ts';

const many = Array.from({ length: 30 }, (_, index) => ({ name: `get_a_thing_with_number_${index}` }));
const compare = (tools: Parameters<typeof createSurface>[0]) =>
  compareHosts(hostProfiles, [{ name: 'notes', surface: createSurface(tools, 'Read first.') }]);

describe('the report of hosts', () => {
  it('fits 80 columns, with one row for tools that are alike', () => {
    const report = compare([{ name: 'a.very.long.name.of.a.tool', outputSchema: {} }, ...many]);
    const lines = renderHostsText(report, { color: false, columns: 80 }).split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.filter((line) => /^ {2}get_a_thing_with_numb… \+29 /.test(line))).toHaveLength(1);
    expect(lines.some((line) => line.includes('all 31 tools'))).toBe(true);
  });

  it('has the ids of hosts as heads in Markdown, and runs nothing of a name', () => {
    const markdown = renderHostsMarkdown(compare([{ name: '<img src=x>|`@all' }]));
    expect(markdown).toContain('| Tool | claude-code | codex |');
    expect(markdown).not.toMatch(/^[^`]*<img/m);
  });

  it('lists what a host never shows first, and says if there is nothing to list', () => {
    const text = renderHostsText(compare([{ name: 'a', inputSchema: { properties: { b: { minimum: 1 } } } }]), {
      color: false,
    });
    const section = text.slice(text.indexOf('Copilot CLI 1.0.102'));
    expect(section.indexOf('never-shown: ')).toBeLessThan(section.indexOf('rewritten: '));
    expect(text).not.toContain('No host is known');
    const nothing = compareHosts([findHost('vscode')], [{ name: 'notes', surface: createSurface([{ name: 'a' }]) }]);
    expect(renderHostsText(nothing, { color: false })).toContain('No host is known to change anything.');
  });
});
