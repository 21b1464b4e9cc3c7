import { parentPort } from 'node:worker_threads';
import { judgeBySchema, type SchemaJob } from './schema-validator.ts';

// The program of the thread in schema-check.ts, which embeds its bundled text. Sends the first mismatch as soon as it is found.
const port = parentPort;
port?.on('message', (job: SchemaJob) => {
  const judgement = judgeBySchema(job, (first) => port.postMessage({ isFinal: false, judgement: first }));
  port.postMessage({ isFinal: true, judgement });
});
port?.postMessage('ready');
