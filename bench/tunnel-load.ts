import { once } from 'node:events';
import { Readable } from 'node:stream';
import { Pool } from 'undici';

const call = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'echo', arguments: { message: 'hello' } },
});
const block = Buffer.alloc(65_536, 'x');

/** Makes small calls at the given concurrency for the given time. */
export async function measureCalls(
  url: string,
  { concurrency, durationMs }: { concurrency: number; durationMs: number },
): Promise<{ perSecond: number; p50Ms: number }> {
  const { origin, pathname, search } = new URL(url);
  const pool = new Pool(origin, { connections: concurrency });
  const timesMs: number[] = [];
  const startedMs = performance.now();
  const work = async () => {
    for (let nowMs = startedMs; nowMs - startedMs < durationMs;) {
      const beforeMs = nowMs;
      await makeCall(pool, `${pathname}${search}`);
      nowMs = performance.now();
      timesMs.push(nowMs - beforeMs);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  const elapsedMs = performance.now() - startedMs;
  await pool.close();
  return { perSecond: (timesMs.length / elapsedMs) * 1000, p50Ms: findMedianOf(timesMs) };
}

/** Makes one small call. @throws unless the answer is 200 within the time limit */
export async function makeCall(pool: Pool, path: string, timeoutMs = 0): Promise<void> {
  const { statusCode, body } = await pool.request({
    path,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: call,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`A call was answered with ${statusCode}: ${text}`);
}

/** Measures one download in bytes per millisecond. */
export async function measureDownload(url: string, bytes: number): Promise<number> {
  const { origin, pathname, search } = new URL(url);
  const pool = new Pool(origin);
  const startedMs = performance.now();
  const { body } = await pool.request({ path: `${pathname}${search}`, method: 'GET' });
  let received = 0;
  body.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  await once(body, 'end');
  const elapsedMs = performance.now() - startedMs;
  await pool.close();
  if (received !== bytes) throw new Error(`${received} of ${bytes} bytes came down.`);
  return bytes / elapsedMs;
}

/** Measures one upload in bytes per millisecond. */
export async function measureUpload(url: string, bytes: number): Promise<number> {
  const { origin, pathname, search } = new URL(url);
  const pool = new Pool(origin);
  const startedMs = performance.now();
  const { body, statusCode } = await pool.request({
    path: `${pathname}${search}`,
    method: 'POST',
    headers: { 'content-length': String(bytes) },
    body: Readable.from(listBlocks(bytes), { objectMode: false, highWaterMark: 2 * block.length }),
  });
  await body.dump();
  const elapsedMs = performance.now() - startedMs;
  await pool.close();
  if (statusCode !== 200) throw new Error(`The upload was answered with ${statusCode}.`);
  return bytes / elapsedMs;
}

export function* listBlocks(bytes: number): Generator<Buffer> {
  for (let sent = 0; sent < bytes; sent += block.length) yield block.subarray(0, Math.min(block.length, bytes - sent));
}

function findMedianOf(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
