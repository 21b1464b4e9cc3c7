import { basename } from 'node:path';
import { limitHeapGrowth } from '../gate/heap.ts';
import { joinSupervisor } from '../supervisor/supervised.ts';
import { exitOnCrash } from './failure.ts';
import { createJobOutput } from './logger.ts';
import { runMain } from './main.ts';
import { runPost } from './post.ts';

limitHeapGrowth();
const output = createJobOutput();
exitOnCrash(output.logger);
if (basename(process.argv[1] ?? '') === 'post.js') process.exit(await runPost(output));
const supervision = joinSupervisor();
process.exit(await supervision.done(await runMain(output, supervision)));
