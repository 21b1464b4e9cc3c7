import { getState, saveState } from '@actions/core';
import { limitHeapGrowth } from '../gate/heap.ts';
import { runMain } from './main.ts';
import { runPost } from './post.ts';

limitHeapGrowth();

// The runner starts this same file twice; what the first saved tells the second that it is the second.
const isPost = getState('isPost') === 'true';
if (!isPost) saveState('isPost', 'true');
process.exit(await (isPost ? runPost() : runMain()));
