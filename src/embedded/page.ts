import type { HonoRequest } from 'hono';
import { invalid } from './envelope.ts';

/** Reads `limit`, never refused: it is clamped to 1..`max`, a fraction cut off, and what is no number is `standard`. */
export function readLimit(request: HonoRequest, { max, standard }: { max: number; standard: number }): number {
  const text = request.query('limit');
  const limit = Number.parseFloat(text ?? '');
  return Number.isNaN(limit) ? standard : Math.min(Math.max(Math.trunc(limit), 1), max);
}

/** Makes the cursor behind a position of a list. `list` says which one, so that no cursor fits another. */
export function renderCursor(list: string, position: number): string {
  return Buffer.from(`${list}:${position}`).toString('base64url');
}

/**
 * Reads the position that `cursor` stands behind; −1, before the first, where there is none.
 *
 * @throws {ApiError} VALIDATION_ERROR for a cursor that this list never gave.
 */
export function readCursor(request: HonoRequest, list: string): number {
  const cursor = request.query('cursor');
  if (cursor === undefined || cursor === '') return -1;
  const position = /^(?<list>.*):(?<position>\d{1,9})$/s.exec(Buffer.from(cursor, 'base64url').toString())?.groups;
  if (position?.['list'] !== list || renderCursor(list, Number(position['position'])) !== cursor) {
    throw invalid('cursor: Not a cursor of this list');
  }
  return Number(position['position']);
}
