import { writeSync } from 'node:fs';
import { answerOf, type Payload, type PayloadContext } from '../payload.ts';

const mebibyte = 1024 * 1024;

/** Writes synchronously, so that unread data stays in the gate and not in this process; at most 96 MiB. */
function pour(descriptor: 1 | 2, chunk: string): void {
  const bytes = Buffer.from(chunk);
  for (let written = 0; written < 96 * mebibyte;) {
    try {
      written += writeSync(descriptor, bytes);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) return;
    }
  }
}

const message = (body: object) => `${JSON.stringify({ jsonrpc: '2.0', ...body })}\n`;
const filler = 'x'.repeat(300);

/** Floods with an end, so that the answer still follows. */
const floods: Record<string, (context: PayloadContext) => void> = {
  'stdout without a line': () => pour(1, filler.repeat(200)),
  'lines on stdout': () => pour(1, `${filler}\n`.repeat(200)),
  'lines on stderr': () => pour(2, `${filler}\n`.repeat(200)),
  'stderr without a line': () => pour(2, filler.repeat(200)),
  'empty lines on stdout': () => pour(1, '\n'.repeat(60_000)),
  notifications: () =>
    pour(1, message({ method: 'notifications/message', params: { level: 'info', data: filler } }).repeat(200)),
  'list changes': () => pour(1, message({ method: 'notifications/tools/list_changed' }).repeat(500)),
  requests: () => pour(1, message({ id: 'own', method: 'ping' }).repeat(500)),
  'answers to other ids': () => pour(1, message({ id: 'other', result: { content: [] } }).repeat(500)),
};

/** Answers that expand to too much. */
const bombs: Record<string, (context: PayloadContext) => string> = {
  'deep answer': () => `{"content":[],"structuredContent":{"deep":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`,
  'many values': () => `{"content":[],"structuredContent":{"values":[${'0,'.repeat(4_000_000)}0]}}`,
  'many objects': () => `{"content":[],"structuredContent":{"values":[${'{},'.repeat(16_000_000)}0]}}`,
  'many tools': () => `{"tools":[${'{"name":"check","inputSchema":{"type":"object"}},'.repeat(200_000)}{}]}`,
  'long text': (context) =>
    `{"content":[{"type":"text","text":"${'y'.repeat(70 * mebibyte)}"},${JSON.stringify(answerOf(context).content[0])}]}`,
};

export const floodNames = Object.keys(floods);
export const bombNames = Object.keys(bombs);

export const payloads: Record<string, Payload> = {
  flood: (context) => floods[context.variant]?.(context),
  bomb: (context) => {
    context.write(`{"jsonrpc":"2.0","id":${context.id},"result":${bombs[context.variant]?.(context)}}\n`);
    return 'answered';
  },
};
