import type { HonoRequest } from 'hono';
import { invalid } from './envelope.ts';

/**
 * Reads `limit`, clamped to 1..`max` rather than refused.
 *
 * @throws {ApiError} VALIDATION_ERROR for what is no integer.
 */
export function readLimit(request: HonoRequest, { max, standard }: { max: number; standard: number }): number {
  const text = request.query('limit');
  if (text === undefined || text === '') return standard;
  if (!/^-?\d+$/.test(text)) throw invalid(`limit: Expected an integer from 1 to ${max}`);
  return Math.min(Math.max(Number(text), 1), max);
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
