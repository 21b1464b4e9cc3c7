import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseGateOptions } from '../../src/gate/options.ts';
import { readPolicy } from '../../src/suite/read-policy.ts';
import { readSuite } from '../../src/suite/read.ts';

/** A percentage with up to four decimals, drawn as ten-thousandths. */
const percent = fc
  .nat({ max: 1_000_000 })
  .map((parts) => ({ fraction: parts / 1_000_000, text: String(parts / 10_000) }));

/** Reads a rate with every parser of rates; null if the parser refuses it. */
function readEverywhere(written: string): Array<number | null> {
  const suite = `suite: a\npolicy: { minimumPassRate: ${written}, tags: { t: ${written} } }\ncases: [{ title: b, tags: [t], steps: [{ toolCall: c }] }]`;
  const own = readSuite(suite, { file: 'a.yaml' }).suite?.policy;
  const file = readPolicy(`minimumPassRate: ${written}\nsuites: { a: { cases: { b: ${written} } } }`, {
    file: 'p.yaml',
  }).policy;
  return [
    own?.minimumPassRate?.value ?? null,
    own?.tags[0]?.value ?? null,
    file?.common.minimumPassRate?.value ?? null,
    file?.suites[0]?.layer.cases[0]?.value ?? null,
    readOption(written),
  ];
}

function readOption(written: string): number | null {
  try {
    return parseGateOptions({ evals: 'a.yaml', 'server-command': 'x', 'min-pass-rate': written }).minPassRate;
  } catch {
    return null;
  }
}

describe('percentages and fractions', () => {
  it('never mix: a percentage is the same fraction wherever it is written', () => {
    fc.assert(
      fc.property(percent, ({ fraction, text }) => {
        fc.pre(!text.includes('e'));
        for (const read of readEverywhere(`${text}%`)) expect(read).toBe(fraction);
      }),
      { numRuns: 300 },
    );
  });

  it('never mix: what could be either is refused everywhere, and all else is a percentage', () => {
    fc.assert(
      fc.property(percent, ({ fraction, text }) => {
        fc.pre(!text.includes('e'));
        const isAmbiguous = fraction > 0 && fraction <= 0.01;
        for (const read of readEverywhere(text)) expect(read).toBe(isAmbiguous ? null : fraction);
      }),
      { numRuns: 300 },
    );
    for (const text of ['0.9', '1', '0.0001']) expect(readEverywhere(text)).toEqual([null, null, null, null, null]);
  });
});
