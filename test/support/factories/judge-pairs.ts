import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { compareSchemas } from '../../../src/surface/schema/compare-schemas.ts';
import { type Certainty, joinEffects } from '../../../src/surface/schema/effect.ts';
import { createRandom, createRoot, mutate, sampleValue } from './schema-pairs.ts';

/** The judgements of ajv and of the comparison about one random pair of schemas. */
export interface JudgedPair {
  seed: number;
  before: unknown;
  after: unknown;
  narrows: Certainty;
  widens: Certainty;
  /** Values that became invalid, and values that became valid. */
  lost: unknown[];
  gained: unknown[];
}

const samples = 50;

const ajv = new Ajv2020({ strict: false, logger: false, validateSchema: false, meta: false, inlineRefs: false });
addFormats.default(ajv);

/** Makes a random pair of schemas with values near both, and judges the values with ajv and the schemas by comparison. */
export function judgePair(seed: number): JudgedPair {
  const random = createRandom(seed);
  const before = createRoot(random);
  const after = random() < 0.9 ? mutate(random, before) : createRoot(random);
  const { narrows, widens } = joinEffects(compareSchemas(before, after));
  const [isOld, isNew] = [ajv.compile(before), ajv.compile(after)];
  ajv.removeSchema();
  const lost: unknown[] = [];
  const gained: unknown[] = [];
  for (let index = 0; index < samples; index += 1) {
    const root = index % 2 === 0 ? before : after;
    const value = sampleValue(random, { schema: root, root, depth: 5 });
    const [was, is] = [isOld(value), isNew(value)];
    if (was && !is) lost.push(value);
    if (!was && is) gained.push(value);
  }
  return { seed, before, after, narrows, widens, lost, gained };
}

/** Lists changes that the comparison missed: it refuses values, or allows more, without being reported. */
export function findMissed({ narrows, widens, lost, gained }: JudgedPair): string[] {
  return [
    ...(lost.length > 0 && narrows === 'no' ? [`refuses ${JSON.stringify(lost[0])}`] : []),
    ...(gained.length > 0 && widens === 'no' ? [`allows ${JSON.stringify(gained[0])}`] : []),
  ];
}
