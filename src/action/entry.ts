import { basename } from 'node:path';
import { limitHeapGrowth } from '../gate/heap.ts';
import { exitOnCrash } from './failure.ts';
import { createJobOutput } from './logger.ts';
import { runMain } from './main.ts';
import { runPost } from './post.ts';

limitHeapGrowth();
const output = createJobOutput();
exitOnCrash(output.logger);
// By the name of the file, which is there whatever became of the main step. Its state is not: a main step that is killed as it
// starts has saved nothing yet, and a post step that asked for something saved would run the whole gate.
process.exit(await (basename(process.argv[1] ?? '') === 'post.js' ? runPost(output) : runMain(output)));
