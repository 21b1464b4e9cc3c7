import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { type DraftedTask, draftTask } from '../../src/capture/draft.ts';
import type { ObservedStep } from '../../src/explore/exploration.ts';

/** A call with the text of its answer. */
function call(tool: string, args: JsonObject, text: string, isError = false): ObservedStep {
  return {
    request: { kind: 'tool', tool, arguments: args },
    isValid: null,
    observation: {
      outcome: { kind: 'result', isError, result: { content: [{ type: 'text', text }] } },
      files: { added: [], changed: [], removed: [] },
      noise: null,
    },
  };
}

function draft(task: Pick<DraftedTask, 'steps'> & Partial<DraftedTask>, listed: readonly string[] = []) {
  return draftTask(
    { earlier: 0, reason: null, isReplayed: true, ...task },
    {
      required: new Map(),
      harmless: new Set(),
      listed: new Set(listed),
      hidden: new Map(),
      hasWorkspace: true,
      takeId: (id) => id,
    },
  );
}

const made = call('create_notes', { notes: [{ name: 'Shopping' }] }, 'made');

describe('draftTask', () => {
  it.each([
    [[made, call('find_notes', { query: 'a' }, 'Shopping')], 'find_notes finds what create_notes made'],
    [[made, call('find_notes', { query: 'b' }, 'none')], 'create_notes and find_notes'],
    [
      [call('delete_note', { name: 'Shopping' }, 'gone'), call('list_notes', {}, 'Travel')],
      'list_notes no longer finds what delete_note removed',
    ],
    [
      [call('delete_note', { name: 'Shopping' }, 'gone'), call('list_notes', {}, 'Shopping')],
      'delete_note and list_notes',
    ],
    [
      [call('create_notes', { notes: [{ name: '' }] }, 'A note needs a name', true)],
      'create_notes refuses: A note needs a name',
    ],
    [[call('get_note', { name: 'x' }, 'No note x', true)], 'get_note refuses name "x"'],
  ])('titles a task by what it shows', (steps, title) => {
    expect(draft({ steps }).content['title']).toBe(title);
  });

  it.each([
    ['A note needs a name', 'create-notes-refuses-a-note-needs-a-name'],
    [
      'A note needs a name, and each of its pages needs a title of its own',
      'create-notes-refuses-a-note-needs-a-name-and-each-of-its',
    ],
    ['x'.repeat(75), 'create-notes-refuses'],
  ])('derives an id of no more than 60 characters, cut after a whole word', (message, id) => {
    const step = call('create_notes', { notes: [{ name: '' }] }, message, true);
    expect(draft({ steps: [step] }).content['id']).toBe(id);
  });

  it('asserts that a tool is missing, and runs no call that a server answers without listing the tool', () => {
    const refused = call('get_note', { name: 'x' }, 'Unknown tool: get_note', true);
    expect(draft({ steps: [made, refused] }, ['create_notes']).content['steps']).toContainEqual({
      assert: { toolNotFound: 'get_note' },
    });
    expect(draft({ steps: [made, refused] }, ['create_notes', 'get_note']).content['steps']).toContainEqual({
      assert: { toolError: { contains: 'Unknown tool: get_note' } },
    });
    expect(draft({ steps: [made, refused] }, ['get_note'])).toMatchObject({
      isCommentedOut: true,
      comments: ['Not run: the server does not list create_notes, and a case calls listed tools only.'],
    });
  });

  it('checks no answer of earlier tasks, and one of each request before the last one', () => {
    const long = call(
      'list_notes',
      {},
      JSON.stringify({ notes: ['Shopping in town', 'Travel to Rome'], all: 'x'.repeat(300) }),
    );
    const { content } = draft({ steps: [made, made, long, long], earlier: 1 });
    const kinds = (content['steps'] as JsonObject[]).map((step) => Object.keys(step)[0]);
    expect(kinds).toEqual(['toolCall', 'toolCall', 'assert', 'toolCall', 'assert', 'toolCall', 'assert', 'assert']);
  });
});
