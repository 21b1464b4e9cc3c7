import { readFile } from 'node:fs/promises';
import type { Statistics } from '../bench/statistics-figures.ts';

interface Table {
  head: string[];
  rows: string[][];
}

const states = { none: 'nothing', round: 'a state for each round', gate: 'a state for the whole gate' };

/** Makes the tables of docs/policy.md from the figures of `npm run bench -- statistics`, by the names of their blocks. */
export async function renderStatisticsTables(): Promise<Map<string, string>> {
  const figures: Statistics = JSON.parse(await readFile(new URL('../bench/statistics.json', import.meta.url), 'utf8'));
  const tables: Record<string, Table> = {
    distances: {
      head: ['Minimum', 'True rate', 'Range of runs, mean', 'Fixed number', 'Difference', '`max` for nine in ten'],
      rows: figures.distances.map(({ minimum, rate, iterations, fixed, mostFor90 }) => [
        formatShare(minimum),
        formatShare(rate),
        String(Math.round(iterations)),
        String(fixed),
        formatDifference(iterations / fixed - 1),
        `${mostFor90} (× ${(mostFor90 / fixed).toFixed(1)})`,
      ]),
    },
    shared: {
      head: ['Iterations share', 'True rate', 'By iterations: passed', 'failed', 'By rounds: passed', 'failed'],
      rows: figures.shared.map(({ state, correlation, rate, iterations, rounds }) => [
        describeState(state, correlation),
        formatShare(rate),
        ...[iterations.passed, iterations.failed, rounds.passed, rounds.failed].map(formatShare),
      ]),
    },
    fixed: {
      head: ['Suite at its minimum', 'Minimum', 'Passed', 'Failed'],
      rows: figures.fixed.map(({ cases, runs, stuck, minimum, passed, failed }) => [
        `${cases} cases × ${runs}${stuck === 0 ? '' : ', half of them alike'}`,
        ...[minimum, passed, failed].map(formatShare),
      ]),
    },
    families: {
      head: ['Gate of suites at their minimum', '`confidenceFamily`', 'Failed'],
      rows: figures.families.map(({ suites, minimums, failed }) => [
        `${suites} suites`,
        minimums === 1 ? '`minimum`' : '`gate`',
        formatShare(failed),
      ]),
    },
    sides: {
      head: ['A side shares', 'Called worse by pairs', 'By rounds'],
      rows: figures.sides.map(({ state, correlation, pairs, rounds }) => [
        describeState(state, correlation),
        ...[pairs, rounds].map(formatShare),
      ]),
    },
  };
  return new Map(Object.entries(tables).map(([name, table]) => [name, renderAligned(table)]));
}

/** Pads every cell as the formatter of the page does. */
function renderAligned({ head, rows }: Table): string {
  const widths = head.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[], filler: string) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width, filler)).join(' | ')} |`;
  return [line(head, ' '), line([], '-'), ...rows.map((row) => line(row, ' '))].join('\n');
}

function describeState(state: keyof typeof states, correlation: number): string {
  return correlation === 0 ? states[state] : `${states[state]}, correlation ${correlation}`;
}

function formatShare(share: number): string {
  return `${Number((share * 100).toFixed(1))}%`;
}

function formatDifference(share: number): string {
  const points = Math.round(share * 100);
  return points > 0 ? `+${points}%` : points < 0 ? `−${-points}%` : '0%';
}
