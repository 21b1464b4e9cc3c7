import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Loaded with `--import` into a process of the product, which has no flag for it: answers each message of the parent with the bytes that
// JavaScript uses after a full collection.

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

process.on('message', () => {
  collect();
  collect();
  process.send?.(process.memoryUsage().heapUsed);
});
process.channel?.unref();
