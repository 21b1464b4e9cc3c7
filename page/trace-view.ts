import { formatCount } from '../src/base/text.ts';
import { formatDuration } from '../src/base/time.ts';
import type { IterationTrace, TracedMessage, TracedPart, TracedSpan } from '../src/model/evidence.ts';
import { type Child, create, createButton, quote } from './dom.ts';

/** Longer texts are folded, so that a large result does not hide the next message. */
const maxShownLength = 1500;

const captions: Record<TracedPart['kind'], string> = {
  text: '',
  call: 'calls',
  result: 'answers',
  error: 'answers with an error',
};

/** Shows the trace of an iteration: its durations, then all messages. */
export function createTraceView({ messages, spans, spansLeftOut }: IterationTrace): Child[] {
  return [
    ...(spans.length === 0
      ? []
      : [
          create('h5', {}, 'Where the time went'),
          createWaterfall(spans),
          spansLeftOut > 0 ? create('p', { class: 'fine' }, `and ${formatCount(spansLeftOut, 'more span')}`) : null,
        ]),
    create('h5', {}, 'Messages'),
    create('ol', { class: 'messages' }, ...messages.map(createMessage)),
  ];
}

function createWaterfall(spans: readonly TracedSpan[]): HTMLElement {
  const endMs = Math.max(1, ...spans.map(({ startMs, durationMs }) => startMs + durationMs));
  return create(
    'ol',
    { class: 'waterfall' },
    ...spans.map(({ name, category, startMs, durationMs, isError }) => {
      const bar = create('i', { class: isError ? 'failed' : 'passed' });
      bar.style.insetInlineStart = `${(startMs / endMs) * 100}%`;
      bar.style.inlineSize = `max(2px, ${(durationMs / endMs) * 100}%)`;
      return create(
        'li',
        {},
        create('span', { class: 'name' }, quote(name === category ? name : `${category} ${name}`)),
        create('span', { class: 'track', 'aria-hidden': 'true' }, bar),
        create('span', { class: 'time' }, `${formatDuration(durationMs)}${isError ? ', failed' : ''}`),
      );
    }),
  );
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
