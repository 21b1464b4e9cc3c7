import type { JudgedChange, Strength } from './measure-strength.ts';

/** The two numbers of a part of the changes. */
export type CountedPart = { name: string } & Pick<Strength, 'harmful' | 'harmless'>;

/** Counts the changes of each tool, resource, prompt or model. */
export const countByTool = (changes: readonly JudgedChange[]) =>
  countBy(changes, ({ kind, subject }) => `${kind} ${subject}`);

export const countByClass = (changes: readonly JudgedChange[]) => countBy(changes, ({ faultClass }) => faultClass);

function countBy(changes: readonly JudgedChange[], nameOf: (change: JudgedChange) => string): CountedPart[] {
  return [...Map.groupBy(changes, nameOf)].map(([name, own]) => {
    const count = (isHarmful: boolean, outcome: JudgedChange['outcome']) =>
      own.filter((each) => each.isHarmful === isHarmful && each.outcome === outcome).length;
    const [noticed, missed] = [count(true, 'noticed'), count(true, 'unnoticed')];
    const [brittle, tolerated] = [count(false, 'noticed'), count(false, 'unnoticed')];
    return {
      name,
      harmful: { noticed, of: noticed + missed },
      harmless: { tolerated, of: tolerated + brittle },
    };
  });
}
