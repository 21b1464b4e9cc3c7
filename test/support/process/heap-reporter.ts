import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Loaded with `--import` into a process of the product, which has no flag for it. It answers each message of the parent with the bytes that
// JavaScript uses after a full collection, and with the CPU time of the process.

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  collect();
  collect();
  process.send?.({ heapBytes: process.memoryUsage().heapUsed, cpuMs: (user + system) / 1000 });
});
process.channel?.unref();
