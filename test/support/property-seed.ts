import * as fc from 'fast-check';

// All runs use one seed, so that a red build means that the change is at fault. `PROPERTY_SEED=0 npm test` uses a new seed each time to find
// more, and any other number repeats the draws of that seed.
const seed = Number(process.env['PROPERTY_SEED'] ?? 20_261_121);
if (seed !== 0) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
