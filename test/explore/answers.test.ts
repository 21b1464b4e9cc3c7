import { describe, expect, it } from 'vitest';
import { isAnswered, isRefused } from '../../src/explore/answers.ts';
import type { Outcome } from '../../src/explore/exploration.ts';

const answer = (text: string): { outcome: Outcome } => ({
  outcome: { kind: 'result', isError: false, result: { content: [{ type: 'text', text }] } },
});

describe('isAnswered', () => {
  it.each([
    'Error: there is no note 7',
    'ValueError: invalid literal',
    'The note was not found',
    'Paragraph index 1 out of range',
    '{"status": "error", "message": "Request not found"}',
    '{ "status": "task_not_found" }',
    '{"success": false}',
    '{"ok":false,"error":"There is no document","hint":"create one"}',
    '{"results": [{"source": "a.pdf", "success": false, "error": "Please provide other data"}]}',
    '{"error": "unknown id"}',
    '{"error": {"code": 404}}',
    `參數格式錯誤，錯誤訊息：Unexpected token 'x', "x" is not valid JSON`,
    "Falha: ENOENT: no such file or directory, open 'a'",
    'Fehler:\n[\n  { "code": "too_small", "minimum": 10, "path": [0, "description"] }\n]',
  ])('takes %j for a refusal', (text) => {
    expect(isAnswered(answer(text))).toBe(false);
    expect(isRefused(answer(text))).toBe(true);
  });

  it.each([
    '2 errors were fixed',
    'alpha\nThe second line was not found',
    '{"status": "planned", "requestId": "req-1"}',
    '{"success": true, "error": null}',
    '{"ok": true, "error": ""}',
    '{"error": "the last one of the log", "count": 2}',
    '{"title": "Error: how to read one"}',
    '[{"status": "error"}]',
    '{"tasks": [{"title": "Deploy", "status": "failed"}]}',
    '{"results": [{"success": true}, {"success": false}]}',
    '{"results": []}',
    `A page about errors.\n${'Words. '.repeat(300)}ENOENT: no such file`,
  ])('takes %j for an answer', (text) => {
    expect(isAnswered(answer(text))).toBe(true);
    expect(isRefused(answer(text))).toBe(false);
  });

  it.each([
    [{ result: 'Error: there is no note 7' }, false],
    [{ result: { error: 'unknown id' } }, false],
    [{ result: 'There are two notes' }, true],
    [{ result: 'Error: there is no note 7', count: 2 }, true],
  ])('reads the value that a framework wraps: %j', (structuredContent, expected) => {
    const { result } = structuredContent;
    const text = typeof result === 'string' ? result : JSON.stringify(result);
    const content = [{ type: 'text', text }];
    const outcome: Outcome = { kind: 'result', isError: false, result: { content, structuredContent } };
    expect(isAnswered({ outcome })).toBe(expected);
  });
});
