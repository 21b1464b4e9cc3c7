import { create, createButton, say } from './dom.ts';

/** Shows a command of a shell, with a button that copies it. */
export function createCommand(command: string): HTMLElement {
  const code = create('code', { tabindex: '0' }, command);
  const status = create('span', { class: 'fine', role: 'status' });
  const copy = createButton(
    { class: 'quiet' },
    () => {
      navigator.clipboard.writeText(command).then(
        () => void (status.textContent = 'Copied.'),
        // A browser may keep the clipboard from a page. The reader can copy what is selected.
        () => {
          document.getSelection()?.selectAllChildren(code);
          status.textContent = 'Selected. Copy it with the keyboard.';
        },
      );
    },
    'Copy',
    say(' the command'),
  );
  return create('div', { class: 'command' }, code, copy, status);
}
