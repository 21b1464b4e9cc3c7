import { formatCount } from '../src/base/text.ts';
import { formatDuration } from '../src/base/time.ts';
import type { IterationTrace, TracedMessage, TracedPart } from '../src/model/evidence.ts';
import { type Child, create, createButton, quote } from './dom.ts';
import { listMoments, type Moment } from './moments.ts';

/** Longer texts are folded, so that a large result does not hide the next message. */
const maxShownLength = 1500;

const captions: Record<TracedPart['kind'], string> = {
  text: '',
  call: 'calls',
  result: 'answers',
  error: 'answers with an error',
};

/** Shows the trace of an iteration: its durations, then all messages. */
export function createTraceView({ messages, spansLeftOut, ...trace }: IterationTrace): Child[] {
  const moments = listMoments(trace);
  return [
    ...(moments.length === 0
      ? []
      : [
          create('h5', {}, 'Where the time went'),
          createWaterfall(moments),
          spansLeftOut > 0 ? create('p', { class: 'fine' }, `and ${formatCount(spansLeftOut, 'more span')}`) : null,
        ]),
    ...(messages.length === 0
      ? []
      : [create('h5', {}, 'Messages'), create('ol', { class: 'messages' }, ...messages.map(createMessage))]),
  ];
}

function createWaterfall(moments: readonly Moment[]): HTMLElement {
  const endMs = Math.max(1, ...moments.map(({ startMs, durationMs }) => startMs + (durationMs ?? 0)));
  return create(
    'ol',
    { class: 'waterfall' },
    ...moments.map(({ kind, text, startMs, durationMs, isError }) => {
      const bar = create('i', { class: kind === 'span' ? (isError ? 'failed' : 'passed') : kind });
      bar.style.insetInlineStart = `${(Math.max(0, startMs) / endMs) * 100}%`;
      bar.style.inlineSize = `max(2px, ${((durationMs ?? 0) / endMs) * 100}%)`;
      return create(
        'li',
        { class: kind },
        create('span', { class: 'name' }, kind === 'output' ? create('b', {}, 'stderr ') : null, quote(text)),
        create('span', { class: 'track', 'aria-hidden': 'true' }, bar),
        create('span', { class: 'time' }, describeTime({ startMs, durationMs, isError })),
      );
    }),
  );
}

function describeTime({ startMs, durationMs, isError }: Pick<Moment, 'startMs' | 'durationMs' | 'isError'>): string {
  if (durationMs !== null) return `${formatDuration(durationMs)}${isError ? ', failed' : ''}`;
  return startMs < 0 ? 'before the first step' : `after ${formatDuration(startMs)}`;
}

function createMessage({ role, parts }: TracedMessage): HTMLElement {
  return create(
    'li',
    { class: 'message' },
    create('p', { class: 'role' }, quote(role)),
    create(
      'div',
      { class: 'parts' },
      ...(parts.length === 0 ? [create('p', { class: 'fine' }, 'No text and no tool call.')] : parts.map(createPart)),
    ),
  );
}

function createPart({ kind, toolName, text }: TracedPart): HTMLElement {
  const caption =
    kind === 'text'
      ? null
      : create('p', { class: `caption ${kind}` }, quote(toolName ?? 'a tool', 'tool'), ` ${captions[kind]}`);
  return create('div', { class: 'part' }, caption, createText(text, kind === 'text' ? 'prose' : 'json'));
}

function createText(text: string, name: string): HTMLElement {
  const shown = create('pre', { class: name, tabindex: '0' }, text.slice(0, maxShownLength));
  if (text.length <= maxShownLength) return shown;
  const more = createButton(
    { class: 'quiet' },
    () => {
      shown.textContent = text;
      shown.focus();
      more.remove();
    },
    `Show ${text.length - maxShownLength} more characters`,
  );
  return create('div', {}, shown, more);
}
