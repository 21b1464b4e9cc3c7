import { option } from './option.ts';
import { duration, optionalPassRate } from './values.ts';

export const verdictOptions = {
  minPassRate: option(optionalPassRate, {
    group: 'The verdict',
    hint: '<percent>',
    brief: 'The share of iterations that must pass in every suite, such as 90%.',
    description:
      'The share of iterations that must pass in every suite, as a percentage such as `90%` or `90`, in place of what the evals files say. A bare number above 0 and up to 1 is refused, because it could mean a fraction. Default: what the evals files say, which is 100% unless they say otherwise.',
    default: '',
  }),
  timeout: option(duration, {
    group: 'The verdict',
    hint: '<duration>',
    brief: 'How long everything may take.',
    description:
      'How long the whole gate may take, as a number and a unit (`ms`, `s`, `m`, `h`). When it runs out, the run is cancelled and the verdict is inconclusive.',
    default: '30m',
  }),
};
