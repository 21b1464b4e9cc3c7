import { DOMParser, onErrorStopParsing } from '@xmldom/xmldom';
import { describe, expect, it } from 'vitest';
import { renderBadge } from '../../src/report/badge.ts';
import { createGreenReport, createInconclusiveReport, createRedReport } from '../support/factories/report-factory.ts';

function read(svg: string) {
  return new DOMParser({ onError: onErrorStopParsing }).parseFromString(svg, 'image/svg+xml').documentElement;
}

describe('renderBadge', () => {
  it.each([
    ['passed', createGreenReport(), 'evals: passed 92.3%'],
    ['failed', createRedReport(), 'evals: failed 63.6%'],
    ['inconclusive', createInconclusiveReport(), 'evals: inconclusive'],
  ])('shows the verdict where it %s', (_, report, title) => {
    const svg = read(renderBadge(report));
    expect(svg?.getAttribute('role')).toBe('img');
    expect(svg?.getAttribute('aria-label')).toBe(title);
    expect(svg?.getElementsByTagName('title')[0]?.textContent).toBe(title);
    const texts = [...(svg?.getElementsByTagName('text') ?? [])].map(({ textContent }) => textContent);
    expect(texts.join(': ')).toBe(title);
  });

  it('loads nothing from the network', () => {
    expect(renderBadge(createRedReport()).replace('http://www.w3.org/2000/svg', '')).not.toMatch(
      /https?:|url\((?!#)|@import|<image|href/,
    );
  });
});
